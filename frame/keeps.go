package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// keeping is what a [Keeper] has said last.
type keeping struct {
	pc, ra uint64 // of the frame; both 0 where nobody was asked
	set    arch.RegSet
}

// keeper returns the sniffer that can tell which registers THIS has left alone beyond what
// the ABI demands, nil if there is none.
func (f *Frame) keeper() Keeper {
	if f.winner < 0 || f.wide || f.typ != Normal {
		return nil
	}
	k, _ := f.stack.table.sniffers[f.winner].(Keeper)
	return k
}

// keeps reports whether THIS has left register r alone, of which row, which is THIS frame's,
// says nothing and which the ABI lets a function change.
func (f *Frame) keeps(row *trad.Row, r trad.Reg) bool {
	s := f.stack
	if row != &f.row || row.More.Lists(r) || s.arch.CalleeSaved.Has(r) || !f.ra.Known() {
		return false
	}
	k := f.keeper()
	if k == nil {
		return false
	}
	if ra := s.arch.CodeAddress(f.ra.Bits); s.keeping.pc != f.pc || s.keeping.ra != ra {
		// An outer frame may be in the middle of its own query.
		defer func(outer Query) { s.query = outer }(s.query)
		s.keeping = keeping{f.pc, ra, k.Keeps(f.query(), ra)}
	}
	return s.keeping.set.Has(r)
}
