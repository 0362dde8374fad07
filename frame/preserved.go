package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// preserved is the last answer of a [PreservedSniffer].
type preserved struct {
	pc, ra uint64 // of the frame; both 0 if none was asked
	set    arch.RegSet
}

// preservedSniffer returns the winner, if it can tell which registers THIS has not changed, besides
// the registers that the ABI preserves; else nil.
func (f *Frame) preservedSniffer() PreservedSniffer {
	if f.winner < 0 || f.byUnwinder || f.typ != Normal {
		return nil
	}
	s, _ := f.stack.table.sniffers[f.winner].(PreservedSniffer)
	return s
}

// preserves reports whether THIS has not changed register r, although the ABI lets a function
// change r, and row, which must be THIS frame's own, has no rule for it.
func (f *Frame) preserves(row *trad.Row, r trad.Reg) bool {
	s := f.stack
	if row != &f.row || row.Others.Lists(r) || s.arch.CalleeSaved.Has(r) || !f.ra.Known() {
		return false
	}
	k := f.preservedSniffer()
	if k == nil {
		return false
	}
	if ra := s.arch.CodeAddress(f.ra.Bits); s.preserved.pc != f.pc || s.preserved.ra != ra {
		// An outer frame may be in the middle of its own query.
		defer func(outer Query) { s.query = outer }(s.query)
		s.preserved = preserved{f.pc, ra, k.PreservedRegisters(f.query(), ra)}
	}
	return s.preserved.set.Has(r)
}
