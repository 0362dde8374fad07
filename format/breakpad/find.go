package breakpad

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"
)

// Location is what is at an address: a function, or a call that was inlined there.
type Location struct {
	Function string // its name; empty if the file has none
	Code     Range  // of the function; of an inlined call, the part of its code around the address; a Public has no size
	File     string // empty if not known
	Line     int    // 0 if not known
	// LineCode is the code of the line around the address, the same for all Locations of an
	// address; its size is 0 if the line is not known.
	LineCode Range
	Multiple bool // as in Func
	Inlined  bool // an inlined call: the next Location is its caller
	// Deeper says that calls are inlined into this one which are left out, because they are more
	// than 256 deep.
	Deeper bool
}

// Counts are the numbers of a file's records. Records whose fields contradict the format do not
// count.
type Counts struct {
	Funcs, Publics, CFI, FrameData, FPO, Files, InlineOrigins int
	Malformed, Unknown                                        int // lines
}

// Counts returns how many records of each type can be found.
func (f *File) Counts() Counts {
	t := f.tables.Load()
	return Counts{t.funcs.len(), t.publics.len(), t.cfi.len(), t.frameData.len(), t.fpo.len(), t.files.len(), t.origins.len(), t.malformed, t.unknown}
}

// Public returns the linker's symbol that addr belongs to: the nearest one at or before addr. It
// returns nil if there is none, or if a function holds addr or lies between.
func (f *File) Public(addr uint64) (*Public, error) {
	return checked(f, func(t *tables) (*Public, error) {
		p, ok := t.publics.find(addr)
		if !ok || t.funcs.startsIn(p.key-1, addr) {
			return nil, nil
		}
		if _, held := t.funcs.find(addr); held {
			return nil, nil
		}
		return recordAt(f, t, p.offset, func(r *Public) bool { return r.Address == p.key })
	})
}

// Win returns the STACK WIN record for addr, nil if there is none: one of FrameData if there is,
// else one of FPO.
func (f *File) Win(addr uint64) (*StackWin, error) {
	return checked(f, func(t *tables) (*StackWin, error) {
		p, ok := t.frameData.find(addr)
		if !ok {
			p, ok = t.fpo.find(addr)
		}
		if !ok {
			return nil, nil
		}
		return recordAt(f, t, p.offset, func(r *StackWin) bool {
			return r.Address == p.Address && r.CodeSize == p.Size
		})
	})
}

// Locate returns what is at addr: the calls that were inlined there, innermost first, then the
// function that holds the code, or a symbol of the linker's; nothing if the file has nothing for
// addr.
func (f *File) Locate(addr uint64) ([]Location, error) {
	t := f.tables.Load()
	if chain, ok := t.located.get(addr); ok {
		return slices.Clone(chain), nil
	}
	chain, err := f.locate(addr)
	if err == nil && len(chain) > 0 {
		size := len(chain) * int(unsafe.Sizeof(chain[0]))
		for i := range chain {
			size += len(chain[i].Function) + len(chain[i].File)
		}
		t.located.put(addr, slices.Clone(chain), size, maxLocated)
	}
	return chain, err
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
		return recordAt(f, t, p.offset, func(r *T) bool { return numberOf(r) == number })
	})
	if found == nil || err != nil {
		return record, err
	}
	return *found, nil
}

// errChanged is the error of a file that does not have what was indexed.
var errChanged = errors.New("the file has changed since it was indexed")

// recordAt returns the record at offset, which must be the one that is meant. It is parsed once, as
// long as not too many others are.
func recordAt[T Record](f *File, t *tables, offset int64, is func(*T) bool) (*T, error) {
	a, ok := t.records.get(uint64(offset))
	if !ok {
		size := 0
		a.err = f.from(offset, func(line []byte) (bool, error) {
			size = len(line)
			var err error
			a.record, err = ParseRecord(line)
			return false, err
		})
		t.records.put(uint64(offset), a, size+recordSize, maxRecords)
	}
	if a.err != nil {
		return nil, a.err
	}
	found, ok := a.record.(T)
	if !ok || !is(&found) {
		return nil, errChanged
	}
	return &found, nil
}

// parsed is a record, or why there is none.
type parsed struct {
	record Record
	err    error
}

// from calls each with the lines from offset on, until it wants no more or fails. Lines that are
// empty or too long are left out, but not the first.
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
