package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of a linkage stub in bytes. Stubs are aligned to the smaller one.
const (
	minStub = 16
	maxStub = 64
)

// stub answers for a linkage stub. A stub has no symbol. It has no table in a static program, or if the
// linker writes none. Section headers tell where it begins.
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

// unnamedStub answers for code that looks like a linkage stub, if no section header says so.
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
