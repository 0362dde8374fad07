package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of a linkage stub, bytes: stubs are aligned to the room that each has at least.
const (
	minStub = 16
	maxStub = 64
)

// stub answers for a linkage stub, which has no symbol, and in a static program, as after
// some linkers, no table either. Section headers tell where it begins.
func stub(q *frame.Query) (row trad.Row, ok bool) {
	if q.Module == nil {
		return row, false
	}
	lo, hi, ok := q.Module.Stub(q.PC)
	if !ok || hi-lo > maxStub {
		return row, false
	}
	return stubAt(q, lo, hi)
}

// unnamedStub answers for what looks like a linkage stub where no section header tells.
func unnamedStub(q *frame.Query) (row trad.Row, ok bool) {
	lo := q.PC &^ (minStub - 1)
	return stubAt(q, lo, lo+minStub)
}

func stubAt(q *frame.Query, lo, hi uint64) (row trad.Row, ok bool) {
	a := q.Arch
	if a.StubFrame == nil {
		return row, false
	}
	fromSP, ok := a.StubFrame(q.Read(lo, int(hi-lo)), lo, q.PC)
	if !ok {
		return row, false
	}
	row = trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.InPrologue,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: fromSP},
		RA:     trad.Rule{Kind: trad.Same},
		FP:     trad.Rule{Kind: trad.Same},
		Others: unchanged,
	}
	if a.RAOffset != 0 {
		row.RA = trad.Rule{Kind: trad.Saved, Off: a.RAOffset}
	}
	return row, true
}
