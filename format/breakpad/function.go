package breakpad

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/sfwalk/sfwalk/internal/interval"
)

// Function is a Func with the records that belong to it.
type Function struct {
	Func
	Lines   []Line   // in the order of the file
	Inlines []Inline // in the order of the file
	// Warnings are the first 16 malformed lines among them, and what was left out of too many.
	Warnings []error
}

// maxBelonging bounds the memory of the records that belong to one function, or to one STACK CFI
// INIT, bytes: a quarter of a million lines. What finds them by address takes some times as much,
// and a compressed file of less than a megabyte may have millions.
const maxBelonging = 8 << 20

// Func returns the function that holds addr, with its lines and inlined calls; nil if there is
// none. Of functions that overlap, the one that begins last counts; of equal ones, the first in the
// file. Others may get the same function: it is to be read only.
func (f *File) Func(addr uint64) (*Function, error) {
	return checked(f, func(t *tables) (*Function, error) {
		fn, err := f.funcOf(t, addr)
		if fn == nil {
			return nil, err
		}
		return &fn.Function, err
	})
}

// indexedFunc is a function, and where its records are by address.
type indexedFunc struct {
	Function
	err    error // why there is none
	lines  interval.Map[*Line]
	depths []interval.Map[inlinedAt] // by the depth of the calls
	deeper interval.Map[inlinedAt]   // calls that are too deep
}

// inlinedAt is an inlined call, and a part of its code.
type inlinedAt struct {
	*Inline
	code Range
}

// entry returns the addresses of r with a value. A range that would go on beyond the last address
// ends there.
func entry[T any](r Range, value T) interval.Entry[T] {
	hi := r.Address + r.Size
	if hi < r.Address {
		hi = math.MaxUint64
	}
	return interval.Entry[T]{Lo: r.Address, Hi: hi, Value: value}
}

// maxInlined bounds the depth of inlined calls at one address. Compilers inline some dozens deep.
const maxInlined = 256

// funcOf returns the function that holds addr, nil if there is none. It is parsed once, as long as
// not too many others are.
func (f *File) funcOf(t *tables, addr uint64) (*indexedFunc, error) {
	p, ok := t.funcs.find(addr)
	if !ok {
		return nil, nil
	}
	fn, ok := t.functions.get(uint64(p.offset))
	if !ok {
		fn = f.parseFunc(p)
		t.functions.put(uint64(p.offset), fn, fn.size(), maxParsed)
	}
	if fn.err != nil {
		return nil, fn.err
	}
	return fn, nil
}

func (f *File) parseFunc(p place) *indexedFunc {
	fn := new(indexedFunc)
	kept := 0
	fn.err = f.from(p.offset, func(line []byte) (more bool, err error) {
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
			kept += int(unsafe.Sizeof(record))
			fn.Lines = append(fn.Lines, record)
		case Inline:
			kept += int(unsafe.Sizeof(record)) + 2*cap(record.Ranges)*int(unsafe.Sizeof(Range{}))
			fn.Inlines = append(fn.Inlines, record)
		}
		if kept > maxBelonging {
			const what = "%.100s: it has more than %d lines and inlined calls: the others are left out"
			fn.Warnings = append(fn.Warnings, fmt.Errorf(what, fn.Name, len(fn.Lines)+len(fn.Inlines)))
			return false, nil
		}
		return true, err
	})
	if fn.err == nil && (fn.Size == 0 || fn.Address != p.Address || fn.Size != p.Size) {
		fn.err = errChanged
	}
	if fn.err != nil {
		return &indexedFunc{err: fn.err}
	}
	fn.index()
	return fn
}

// index finds out which records have which addresses. Of lines, and of calls of one depth, the
// first counts.
func (fn *indexedFunc) index() {
	lines := make([]interval.Entry[*Line], len(fn.Lines))
	for i := range fn.Lines {
		lines[i] = entry(Range{fn.Lines[i].Address, fn.Lines[i].Size}, &fn.Lines[i])
	}
	fn.lines = interval.First(lines)
	var depths [][]interval.Entry[inlinedAt]
	var beyond []interval.Entry[inlinedAt]
	for i := range fn.Inlines {
		in := &fn.Inlines[i]
		for _, r := range in.Ranges {
			at := entry(r, inlinedAt{in, r})
			if in.Depth >= maxInlined {
				beyond = append(beyond, at)
				continue
			}
			for in.Depth >= len(depths) {
				depths = append(depths, nil)
			}
			depths[in.Depth] = append(depths[in.Depth], at)
		}
	}
	for _, calls := range depths {
		fn.depths = append(fn.depths, interval.First(calls))
	}
	// Those inside which the others are come first.
	slices.SortStableFunc(beyond, func(a, b interval.Entry[inlinedAt]) int { return a.Value.Depth - b.Value.Depth })
	fn.deeper = interval.First(beyond)
}

// size returns the memory that fn takes, bytes.
func (fn *indexedFunc) size() int {
	const line, call = int(unsafe.Sizeof(interval.Entry[*Line]{})), int(unsafe.Sizeof(interval.Entry[inlinedAt]{}))
	n := int(unsafe.Sizeof(*fn)) + len(fn.Name)
	n += cap(fn.Lines)*int(unsafe.Sizeof(Line{})) + cap(fn.Inlines)*int(unsafe.Sizeof(Inline{}))
	n += line*fn.lines.Len() + call*fn.deeper.Len()
	for i := range fn.depths {
		n += int(unsafe.Sizeof(fn.depths[i])) + call*fn.depths[i].Len()
	}
	for i := range fn.Inlines {
		n += cap(fn.Inlines[i].Ranges) * int(unsafe.Sizeof(Range{}))
	}
	return n
}

func (f *File) locate(addr uint64) ([]Location, error) {
	chain, err := checked(f, func(t *tables) (*[]Location, error) {
		fn, err := f.funcOf(t, addr)
		if fn == nil {
			return nil, err
		}
		chain, err := f.chain(fn, addr)
		return &chain, err
	})
	if err != nil {
		return nil, err
	}
	if chain != nil {
		return *chain, nil
	}
	public, err := f.Public(addr)
	if public == nil || err != nil {
		return nil, err
	}
	return []Location{{Function: public.Name, Code: Range{Address: public.Address}, Multiple: public.Multiple}}, nil
}

// chain returns the calls that were inlined at addr, innermost first, then the function.
func (f *File) chain(fn *indexedFunc, addr uint64) ([]Location, error) {
	file, line := -1, 0
	var lineCode Range
	if at, ok := fn.lines.Find(addr); ok {
		l := at.Value
		file, line, lineCode = l.File, l.Line, Range{l.Address, l.Size}
	}
	at, deeper := fn.deeper.Find(addr)
	if deeper {
		file, line = at.Value.CallFile, at.Value.CallLine
	}
	var chain []Location
	add := func(l Location) (err error) {
		l.Line, l.LineCode, l.Deeper = line, lineCode, deeper
		l.File, err = f.fileName(file)
		chain, deeper = append(chain, l), false
		return err
	}
	for i := len(fn.depths) - 1; i >= 0; i-- {
		at, ok := fn.depths[i].Find(addr)
		if !ok {
			continue
		}
		in := at.Value
		name, err := f.originName(in.Origin)
		if err != nil {
			return nil, err
		}
		if err := add(Location{Function: name, Inlined: true, Code: in.code}); err != nil {
			return nil, err
		}
		file, line = in.CallFile, in.CallLine
	}
	err := add(Location{Function: fn.Name, Code: Range{fn.Address, fn.Size}, Multiple: fn.Multiple})
	return chain, err
}
