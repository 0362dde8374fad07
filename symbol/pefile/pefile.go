// Package pefile has the names of functions from the PE files of Windows' modules, where these are at hand: a [symbol.Source]. They
// are the COFF symbols, which mingw's linker writes, and the table of exports; neither says where a function ends.
package pefile

import (
	"github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Source is the source; it keeps no state.
type Source struct{}

// Open returns the table of m's PE image. It returns nil if there is none, or it names nothing.
func (Source) Open(m *target.Module) (symbol.Table, error) {
	im, err := m.PE()
	if err != nil || im.Symbols().Len() == 0 {
		return nil, nil
	}
	return &table{im, m.Base()}, nil
}

// table is the names of one module.
type table struct {
	image *pe.Image
	base  uint64
}

// Locate implements [symbol.Table].
func (t *table) Locate(pc uint64) []symbol.Location {
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
func (*table) Warnings() []error { return nil }
