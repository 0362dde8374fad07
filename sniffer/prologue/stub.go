package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// maxStub is the length of the longest linkage stub, bytes.
const maxStub = 64

// stub answers for a linkage stub, which has no symbol, and in a static program, as after
// some linkers, no table either. Section headers tell where it begins.
func stub(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if q.Module == nil || a.StubFrame == nil {
		return row, false
	}
	lo, hi, ok := q.Module.Stub(q.PC)
	if !ok || hi-lo > maxStub {
		return row, false
	}
	fromSP, ok := a.StubFrame(q.Read(lo, int(hi-lo)), lo, q.PC)
	if !ok {
		return row, false
	}
	row = trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.InPrologue,
		CFA:  trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: fromSP},
		RA:   trad.Rule{Kind: trad.Same},
		FP:   trad.Rule{Kind: trad.Same},
		More: unchanged,
	}
	if a.RAOffset != 0 {
		row.RA = trad.Rule{Kind: trad.Saved, Off: a.RAOffset}
	}
	return row, true
}
