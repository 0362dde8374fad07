package tables

import (
	"github.com/sfwalk/sfwalk/format/pdata"
	"github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// PE has the names of functions from the PE files of Windows' modules, where these are at hand.
// They are the COFF symbols, which mingw's linker writes, and the table of exports. Neither says
// where a function ends: the function table (.pdata) does, where there is one.
type PE struct{}

// Open returns the table of m's PE image. It returns nil if there is none, or it names nothing.
func (PE) Open(m *target.Module) (symbol.Table, error) {
	im, err := m.PE()
	if err != nil {
		return nil, nil
	}
	functions := unwindtables.FunctionsOf(m)
	if im.Symbols().Len() == 0 && functions == nil {
		return nil, nil
	}
	return &peTable{im, functions, m.Base()}, nil
}

// peTable is the names of one module.
type peTable struct {
	image     *pe.Image
	functions *unwindtables.Functions // nil if there is no table
	base      uint64
}

var _ symbol.Starter = (*peTable)(nil)

// Locate implements [symbol.Table].
func (t *peTable) Locate(pc uint64) []symbol.Location {
	if pc-t.base >= uint64(t.image.Size) {
		return nil
	}
	rva := uint32(pc - t.base)
	s, ok := t.image.Symbols().Find(rva)
	if section := t.image.Section(rva); !ok || section == nil || !section.Code || s.RVA < section.RVA || t.behind(s.RVA, rva) {
		return nil
	}
	start := t.base + uint64(s.RVA)
	return []symbol.Location{{Function: s.Name, Start: start, Offset: pc - start}}
}

// FunctionAt implements [symbol.Starter]. A part of a function that lies elsewhere is of the
// function, but not contiguous with it.
func (t *peTable) FunctionAt(pc uint64) (lo, hi uint64, from string, ok bool) {
	if pc-t.base >= uint64(t.image.Size) {
		return 0, 0, "", false
	}
	f, ok := t.function(uint32(pc - t.base))
	return t.base + uint64(f.Begin), t.base + uint64(f.End), ".pdata", ok
}

// function returns the entry of the function table at which the code at rva begins: of the function
// if that goes on to rva, else of its part.
func (t *peTable) function(rva uint32) (f pdata.Function, ok bool) {
	if t.functions == nil {
		return f, false
	}
	if f, ok = t.functions.Find(rva); !ok {
		return f, false
	}
	own, err := t.functions.Primary(f)
	if err != nil || own == f {
		return f, true
	}
	// Parts that follow one another are one: a compiler begins a new entry where it has saved more
	// registers.
	at := own
	for n := 0; at.Begin < f.Begin; n++ {
		next, ok := t.functions.Find(at.End)
		if !ok || next.Begin != at.End || n == maxParts {
			return f, true
		}
		if p, err := t.functions.Primary(next); err != nil || p != own {
			return f, true
		}
		at = next
	}
	if at != f { // f comes before own, or lies across an entry
		return f, true
	}
	return pdata.Function{Begin: own.Begin, End: f.End, Unwind: own.Unwind}, true
}

// maxParts bounds the parts of a function that are joined.
const maxParts = 32

// behind reports whether rva is behind the end of the function whose symbol, at start, is the
// nearest one before it.
func (t *peTable) behind(start, rva uint32) bool {
	if f, ok := t.function(rva); ok {
		return f.Begin > start
	}
	f, ok := t.function(start)
	return ok && f.Begin == start // and the function ends before rva
}

// Warnings implements [symbol.Table].
func (*peTable) Warnings() []error { return nil }
