package tables

import (
	"github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// PE has the names of functions from the PE files of Windows' modules, where these are at hand.
// They are the COFF symbols, which mingw's linker writes, and the table of exports. Neither says
// where a function ends.
type PE struct{}

// Open returns the table of m's PE image. It returns nil if there is none, or it names nothing.
func (PE) Open(m *target.Module) (symbol.Table, error) {
	im, err := m.PE()
	if err != nil || im.Symbols().Len() == 0 {
		return nil, nil
	}
	return &peTable{im, m.Base()}, nil
}

// peTable is the names of one module.
type peTable struct {
	image *pe.Image
	base  uint64
}

// Locate implements [symbol.Table].
func (t *peTable) Locate(pc uint64) []symbol.Location {
	if pc-t.base >= uint64(t.image.Size) {
		return nil
	}
	rva := uint32(pc - t.base)
	s, ok := t.image.Symbols().Find(rva)
	if section := t.image.Section(rva); !ok || section == nil || !section.Code || s.RVA < section.RVA {
		return nil
	}
	start := t.base + uint64(s.RVA)
	return []symbol.Location{{Function: s.Name, Start: start, Offset: pc - start}}
}

// Warnings implements [symbol.Table].
func (*peTable) Warnings() []error { return nil }
