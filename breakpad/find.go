package breakpad

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Function is a Func with the records that belong to it.
type Function struct {
	Func
	Lines   []Line   // in the order of the file
	Inlines []Inline // in the order of the file
	// Warnings are the first 16 malformed lines among them.
	Warnings []error
}

// CFI are the STACK CFI records of a range of code.
type CFI struct {
	StackCFIInit
	Changes []StackCFI // by address
}

// Location is what is at an address: a function, or a call that was inlined there.
type Location struct {
	Function string // its name; empty if the file has none
	Code     Range  // of the function; of an inlined call, the part of its code around the address; a Public has no size
	File     string // empty if not known
	Line     int    // 0 if not known
	// LineCode is the code of the line around the address, the same for all Locations of an address; its size is 0 if the line
	// is not known.
	LineCode Range
	Multiple bool // as in Func
	Inlined  bool // an inlined call: the next Location is its caller
}

// Counts are the numbers of a file's records, without those whose fields contradict the format.
type Counts struct {
	Funcs, Publics, CFI, FrameData, FPO, Files, InlineOrigins int
	Malformed, Unknown                                        int // lines
}

// Counts returns how many records of each type can be found.
func (f *File) Counts() Counts {
	t := f.tables.Load()
	return Counts{t.funcs.len(), t.publics.len(), t.cfi.len(), t.frameData.len(), t.fpo.len(), t.files.len(), t.origins.len(), t.malformed, t.unknown}
}

// Func returns the function that holds addr, with its lines and inlined calls; nil if there is none. Of functions
// that overlap, the one that begins last counts; of equal ones, the first in the file.
func (f *File) Func(addr uint64) (*Function, error) {
	return checked(f, func(t *tables) (*Function, error) { return f.funcOf(t, addr) })
}

func (f *File) funcOf(t *tables, addr uint64) (*Function, error) {
	p, ok := t.funcs.find(addr)
	if !ok {
		return nil, nil
	}
	fn := new(Function)
	err := f.from(p.offset, func(line []byte) (more bool, err error) {
		switch kindOf(line) {
		case kindFunc, kindPublic, kindCFIInit, kindCFI, kindWin:
			if fn.Size != 0 {
				return false, nil
			}
		case kindFile, kindOrigin:
			return true, nil
		}
		record, err := ParseRecord(line)
		if fn.Size != 0 && err != nil {
			if len(fn.Warnings) < maxWarnings {
				fn.Warnings = append(fn.Warnings, fmt.Errorf("%s: %w", fn.Name, err))
			}
			return true, nil
		}
		switch record := record.(type) {
		case Func:
			fn.Func = record
		case Line:
			fn.Lines = append(fn.Lines, record)
		case Inline:
			fn.Inlines = append(fn.Inlines, record)
		}
		return true, err
	})
	if err == nil && (fn.Size == 0 || fn.Address != p.Address || fn.Size != p.Size) {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return fn, nil
}

// Public returns the symbol of the linker's that addr belongs to: the nearest before it, if no function lies
// between or holds addr; nil if there is none.
func (f *File) Public(addr uint64) (*Public, error) {
	return checked(f, func(t *tables) (*Public, error) {
		p, ok := t.publics.find(addr)
		if !ok || t.funcs.startsIn(p.key-1, addr) {
			return nil, nil
		}
		if _, held := t.funcs.find(addr); held {
			return nil, nil
		}
		return recordAt(f, p.offset, func(r *Public) bool { return r.Address == p.key })
	})
}

// CFI returns the STACK CFI records of the code around addr, nil if there are none. The changes up to addr count.
func (f *File) CFI(addr uint64) (*CFI, error) {
	return checked(f, func(t *tables) (*CFI, error) { return f.cfiOf(t, addr) })
}

func (f *File) cfiOf(t *tables, addr uint64) (*CFI, error) {
	p, ok := t.cfi.find(addr)
	if !ok {
		return nil, nil
	}
	var cfi CFI
	err := f.from(p.offset, func(line []byte) (more bool, err error) {
		k := kindOf(line)
		if k != kindCFI && cfi.Size != 0 {
			return false, nil
		}
		record, err := ParseRecord(line)
		switch record := record.(type) {
		case StackCFIInit:
			cfi.StackCFIInit = record
		case StackCFI:
			cfi.Changes = append(cfi.Changes, record)
		}
		return true, err
	})
	if err == nil && (cfi.Address != p.Address || cfi.Size != p.Size) {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(cfi.Changes, func(a, b StackCFI) int { return cmp.Compare(a.Address, b.Address) })
	return &cfi, nil
}

// Win returns the STACK WIN record for addr, nil if there is none: one of FrameData if there is, else one of FPO.
func (f *File) Win(addr uint64) (*StackWin, error) {
	return checked(f, func(t *tables) (*StackWin, error) {
		p, ok := t.frameData.find(addr)
		if !ok {
			p, ok = t.fpo.find(addr)
		}
		if !ok {
			return nil, nil
		}
		return recordAt(f, p.offset, func(r *StackWin) bool { return r.Address == p.Address && r.CodeSize == p.Size })
	})
}

// Locate returns what is at addr: the calls that were inlined there, innermost first, then the function that holds
// the code, or a symbol of the linker's; nothing if the file has nothing for addr.
func (f *File) Locate(addr uint64) ([]Location, error) {
	t := f.tables.Load()
	if chain, ok := t.located.get(addr); ok {
		return slices.Clone(chain), nil
	}
	chain, err := f.locate(addr)
	if err == nil && len(chain) > 0 {
		text := 0
		for i := range chain {
			text += len(chain[i].Function) + len(chain[i].File)
		}
		t.located.put(addr, slices.Clone(chain), text)
	}
	return chain, err
}

func (f *File) locate(addr uint64) ([]Location, error) {
	fn, err := f.Func(addr)
	if err != nil {
		return nil, err
	}
	if fn == nil {
		public, err := f.Public(addr)
		if public == nil || err != nil {
			return nil, err
		}
		return []Location{{Function: public.Name, Code: Range{Address: public.Address}, Multiple: public.Multiple}}, nil
	}
	var file, line int
	var lineCode Range
	if i := slices.IndexFunc(fn.Lines, func(l Line) bool { return Range{l.Address, l.Size}.Contains(addr) }); i >= 0 {
		file, line, lineCode = fn.Lines[i].File, fn.Lines[i].Line, Range{fn.Lines[i].Address, fn.Lines[i].Size}
	} else {
		file = -1
	}
	var chain []Location
	for _, in := range fn.inlinesAt(addr) {
		location := Location{Line: line, LineCode: lineCode, Inlined: true, Code: in.code}
		if location.File, err = f.fileName(file); err != nil {
			return nil, err
		}
		if location.Function, err = f.originName(in.Origin); err != nil {
			return nil, err
		}
		chain = append(chain, location)
		file, line = in.CallFile, in.CallLine
	}
	location := Location{Function: fn.Name, Code: Range{fn.Address, fn.Size}, Line: line, LineCode: lineCode, Multiple: fn.Multiple}
	if location.File, err = f.fileName(file); err != nil {
		return nil, err
	}
	return append(chain, location), nil
}

// inlinedAt is an inlined call, and the part of its code that holds an address.
type inlinedAt struct {
	*Inline
	code Range
}

// inlinesAt returns the calls whose code holds addr, one for each depth, innermost first.
func (fn *Function) inlinesAt(addr uint64) []inlinedAt {
	var at []inlinedAt
	for i := range fn.Inlines {
		in := &fn.Inlines[i]
		if k := slices.IndexFunc(in.Ranges, func(r Range) bool { return r.Contains(addr) }); k >= 0 {
			at = append(at, inlinedAt{in, in.Ranges[k]})
		}
	}
	slices.SortStableFunc(at, func(a, b inlinedAt) int { return cmp.Compare(b.Depth, a.Depth) })
	return slices.CompactFunc(at, func(a, b inlinedAt) bool { return a.Depth == b.Depth })
}

// fileName returns the name of a source file, "" if the file has none for the number.
func (f *File) fileName(number int) (string, error) {
	file, err := numbered(f, func(t *tables) *points { return &t.files }, number, func(r *SourceFile) int { return r.Number })
	return file.Name, err
}

// originName returns the name of an inlined function, "" if the file has none for the number.
func (f *File) originName(number int) (string, error) {
	origin, err := numbered(f, func(t *tables) *points { return &t.origins }, number, func(r *InlineOrigin) int { return r.Number })
	return origin.Name, err
}

// numbered returns the record of a table that has the number, an empty one if there is none.
func numbered[T Record](f *File, table func(*tables) *points, number int, numberOf func(*T) int) (record T, err error) {
	if number < 0 {
		return record, nil
	}
	found, err := checked(f, func(t *tables) (*T, error) {
		p, ok := table(t).find(uint64(number))
		if !ok || p.key != uint64(number) {
			return nil, nil
		}
		return recordAt(f, p.offset, func(r *T) bool { return numberOf(r) == number })
	})
	if found == nil || err != nil {
		return record, err
	}
	return *found, nil
}

// errChanged is the error of a file that does not have what was indexed.
var errChanged = errors.New("the file has changed since it was indexed")

// recordAt parses the record at offset, which must be the one that is meant.
func recordAt[T Record](f *File, offset int64, is func(*T) bool) (*T, error) {
	var found *T
	err := f.from(offset, func(line []byte) (bool, error) {
		record, err := ParseRecord(line)
		if r, ok := record.(T); ok {
			found = &r
		}
		return false, err
	})
	if err == nil && (found == nil || !is(found)) {
		err = errChanged
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// from calls each with the lines from offset on, until it wants no more or fails. Empty lines and those that are too
// long are left out, but not the first.
func (f *File) from(offset int64, each func(line []byte) (more bool, err error)) error {
	lines := lineReaders.Get().(*lineReader)
	lines.reset(io.NewSectionReader(f.r, offset, f.size-offset))
	defer lineReaders.Put(lines)
	for lines.next() {
		if lines.number > 1 && len(lines.line) == 0 {
			continue
		}
		err := errLong
		more := false
		if !lines.long {
			more, err = each(lines.line)
		}
		if err != nil {
			return fmt.Errorf("symbol file, at byte %d: %w", offset+lines.offset, err)
		}
		if !more {
			return nil
		}
	}
	return lines.err
}
