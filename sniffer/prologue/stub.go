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

// stub answers for a linkage stub. A stub has no symbol. It has no table in a static program, or if
// the linker writes none. Section headers tell where it begins.
func stub(q *frame.Query) (row trad.Row, ok bool) {
	if q.Module == nil {
		return row, false
	}
	if lo, hi, ok := q.Module.Stub(q.PC); ok && hi-lo <= maxStub {
		if row, ok = stubAt(q, lo, hi); ok {
			return row, true
		}
	}
	return stubPath(q)
}

// stubPath answers for a linkage stub of another form, by its way to the function. Such stubs share
// code with the first one, which has two words more on the stack. There the return address tells
// which stub it is.
func stubPath(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	lo, hi, ok := q.Module.StubSection(q.PC)
	if !ok || a.StubPath == nil {
		return row, false
	}
	fromSP, ok := a.StubPath(lo, hi, q.PC, func(addr uint64) []byte { return q.Read(addr, maxInstruction) })
	if !ok {
		return row, false
	}
	if row = spRow(q, fromSP); q.PC-lo >= maxStub {
		return row, true
	}
	if row.Flags |= trad.Once; leads(q, &row) == caller {
		return row, true
	}
	row.CFA.Off += 2 * int32(a.PtrSize)
	return row, leads(q, &row) == caller
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
	return spRow(q, fromSP), true
}

// spRow returns the row of code that has changed no register, and in which the CFA has a distance
// from SP.
func spRow(q *frame.Query, fromSP int32) trad.Row {
	a := q.Arch
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.InPrologue,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: fromSP},
		RA:     trad.Rule{Kind: trad.Same},
		FP:     trad.Rule{Kind: trad.Same},
		Others: unchanged,
	}
	if a.RAOffset != 0 {
		row.RA = trad.Rule{Kind: trad.Saved, Off: a.RAOffset}
	}
	return row
}
