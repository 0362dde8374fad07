package fromelf

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// minThunk is the length in bytes of a thunk's call, and of the loop behind it.
const minThunk = 5 + 2

// readCode reads code of the files, of which separate debug files have none.
func (d *Dump) readCode(addr uint64, p []byte) int {
	for _, im := range d.sources() {
		if n := im.ReadLoaded(addr, p); n > 0 {
			return n
		}
	}
	return 0
}

// thunk writes the rows of a thunk whose code begins at t.loc, as gcc puts it into functions. Its
// table tells of the word that the thunk's own call has pushed, and not where that ends
// (cfi.Options.Thunk). thunk reports whether there is one. dump_syms copies what the table says.
func (t *translator) thunk() bool {
	a := t.arch
	if t.like || t.thunks == nil || t.loc-t.before < minThunk || !t.thunks(t.loc) {
		return false
	}
	s := &t.state
	bySP := s.cfa.kind == inRegister && s.cfa.reg == uint64(a.SP)
	if bySP {
		for _, c := range slices.Clone(s.regs) {
			if c.rule.kind == saved && c.rule.off < -s.cfa.off { // the call has overwritten it: tables leave that out
				t.set(c.reg, cfiRule{kind: same})
			}
		}
	}
	if !t.begun {
		return true
	}
	var function cfiState
	s.copyTo(&function)
	code, begins := arch.ThunkCode(t.loc, t.d.readCode)
	for at := range code {
		pushed, called, ok := a.Thunk(code, at)
		addr := t.loc - uint64(begins-at)
		if !ok || addr < t.loc && (!called || addr <= t.before) || addr > t.loc+maxThunk {
			continue
		}
		entry := int64(-a.RAOffset - int32(a.SPFromCFA))
		word := int64(a.PtrSize)
		switch {
		case called:
			s.cfa = cfiRule{kind: inRegister, reg: uint64(a.SP), off: entry + int64(pushed)*word}
			for i := range s.regs {
				s.regs[i].rule = cfiRule{kind: same}
			}
			t.set(t.ra, cfiRule{kind: saved, off: int64(a.RAOffset)})
		case bySP:
			s.cfa.off = function.cfa.off + int64(pushed)*word
		}
		t.whole(addr)
		t.behind = addr + 1 // the last one is the thunk's ret
	}
	function.copyTo(s)
	return true
}

// maxThunk bounds the length in bytes of a thunk's code before its ret.
const maxThunk = 6

// whole writes the whole row as changes at an address.
func (t *translator) whole(addr uint64) {
	t.all()
	t.body = t.changeAt(t.body, addr)
	t.changes, t.text = t.changes[:0], t.text[:0]
}
