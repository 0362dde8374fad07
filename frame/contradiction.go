package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxTeardown = 64 // bytes of code that are looked at from an instruction on
	maxRun      = 24 // bytes before the PC that are looked at for what tears the frame down
)

// Contradicted reports whether the code at PC contradicts a row of a table. Some tables
// (of old compilers, or written by hand) leave out that a function takes its frame down.
// Only a frame that was not left by a call can be where that matters.
//
// A return that takes its address from the stack may be there for another purpose, as in
// the code that guards indirect calls. So the row must contradict itself: the frame pointer
// has its caller's value again, and the row finds the CFA by it; or the code restores what
// the row calls unchanged; or the row covers several instructions on the way to the return,
// between which the stack pointer moves.
func (q *Query) Contradicted(row *trad.Row) bool {
	return q.Innermost() && q.Arch.ReadEpilogue != nil && (q.contradicted(row) || q.returnsElsewhere(row))
}

// InThunk reports whether PC is in a thunk: code that is called, and that drops or replaces its
// return address. Some compilers put thunks into functions, in place of jumps, calls and returns.
// Their tables mix up the thunk's stack with the function's. row is the function's, and becomes
// THIS frame's.
func (q *Query) InThunk(row *trad.Row) bool {
	a := q.Arch
	if a.Thunk == nil || !q.Innermost() || row.Flags&notTornDown != 0 {
		return false
	}
	code, at := q.Code()
	pushed, called, ok := a.Thunk(code, at)
	if !ok {
		return false
	}
	pushed *= int32(a.PtrSize)
	row.Lo, row.Len = q.PC, 1
	switch entry := -a.RAOffset - int32(a.SPFromCFA); {
	case called || bySP(a.SP, row) && row.CFA.Off == entry:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: entry + pushed}
		row.RA = trad.Rule{Kind: trad.Saved, Off: a.RAOffset}
		row.FP, row.Others = trad.Rule{Kind: trad.Same}, unchanged
	case bySP(a.SP, row):
		row.CFA.Off += pushed
	}
	return true
}

// unchanged is of rows in which all registers keep their values.
var unchanged = &trad.OtherRules{Default: trad.Same}

// returnsElsewhere reports whether the code does not return to the word at SP, although a row says
// so. The code between row's beginning and PC may have popped the return address, and jump to it:
// compilers that guard returns against speculation leave that out of their tables. Or it pushes
// another address, because it has changed to another stack.
func (q *Query) returnsElsewhere(row *trad.Row) bool {
	a := q.Arch
	if a.ReturnPopped == nil || row.Flags&notTornDown != 0 || !atEntry(a, row) {
		return false
	}
	code, at := q.Code()
	if a.BehindSystemCall(code[:at]) {
		return false // most threads; the rest takes time
	}
	if pushes, returns := a.ReturnPushed(code[at:]); returns || pushes && q.returnsPushed() {
		return true
	}
	if q.PC == row.Lo || q.PC-row.Lo > maxBefore {
		return false
	}
	lo := row.Lo // the function below would have every row allocated
	_, is := a.ReturnPopped(code[at:], func() []byte {
		before := make([]byte, q.PC-lo)
		n, _ := q.Memory.ReadMemory(lo, before)
		return before[:n]
	})
	return is
}

// returnsPushed reports whether straight code from PC returns to an address that it pushes.
func (q *Query) returnsPushed() bool {
	_, returns := q.Arch.ReturnPushed(q.Read(q.PC, 2*maxTeardown))
	return returns
}

// notTornDown are the flags of rows with which the code at PC is not compared.
const notTornDown = trad.Outermost | trad.Signal | trad.Once

func (q *Query) contradicted(row *trad.Row) bool {
	a := q.Arch
	if row.Flags&notTornDown != 0 || atEntry(a, row) {
		return false
	}
	code, out := a.ReadEpilogue(q.Read(q.PC, maxTeardown), q.PC)
	switch {
	case out == 0:
		return false
	case out&arch.ByJump != 0:
		return q.leaves(row, &code)
	case byFP(a.FP, row) && code.FP.Kind == trad.Same:
		return true
	case row.FP.Kind == trad.Same && outsideRegister(code.FP), a.RA != a.PC && row.RA.Kind == trad.Same && outsideRegister(code.RA):
		return true
	}
	return bySP(a.SP, row) && bySP(a.SP, &code) && row.CFA != code.CFA && (a.RAOffset == 0 || q.movesSP(row, &code))
}

// atEntry reports whether a row is as a call leaves a frame: nothing is left to take down.
// That is so of system calls, at which most threads stand, so that no code need be read.
func atEntry(a *arch.Arch, row *trad.Row) bool {
	return bySP(a.SP, row) && row.CFA.Off == -a.RAOffset-int32(a.SPFromCFA) && row.FP.Kind == trad.Same
}

// outsideRegister reports whether a register's value is not in the register itself.
func outsideRegister(r trad.Rule) bool {
	return r.Kind != trad.NotTracked && r.Kind != trad.Same && r.Kind != trad.Undefined
}

// byFP reports whether a row finds the CFA by the frame pointer, whose old value is saved.
func byFP(fp trad.Reg, row *trad.Row) bool {
	return (row.CFA.Kind == trad.InReg || row.CFA.Kind == trad.SavedAt) && row.CFA.Reg == fp && outsideRegister(row.FP)
}

func bySP(sp trad.Reg, row *trad.Row) bool { return row.CFA.Kind == trad.InReg && row.CFA.Reg == sp }

// movesSP reports whether an instruction that row covers moves the stack pointer, on a way to a
// return that PC is on. code is the row at PC by the code.
func (q *Query) movesSP(row, code *trad.Row) bool {
	a := q.Arch
	if next := q.PC + uint64(code.Len); row.Contains(next) {
		if after, out := a.ReadEpilogue(q.Read(next, maxTeardown), next); out != 0 && after.CFA != code.CFA {
			return true
		}
	}
	return q.before(row, func(before *trad.Row) bool { return before.CFA != code.CFA })
}

// leaves reports whether the instructions before PC, as far as row covers them, have taken
// the frame down for a jump, which may lead on inside the function. code is what is so at PC
// if that jump leads to another one.
func (q *Query) leaves(row, code *trad.Row) bool {
	a := q.Arch
	fp := byFP(a.FP, row)
	if !fp && !(bySP(a.SP, row) && bySP(a.SP, code) && row.CFA != code.CFA) || code.FP.Kind != trad.Same {
		return false
	}
	down := q.before(row, func(before *trad.Row) bool {
		if fp {
			return outsideRegister(before.FP)
		}
		return before.CFA == row.CFA || !bySP(a.SP, before) // or it loads SP
	})
	if !down || a.InEpilogue == nil {
		return down
	}
	if q.PC-row.Lo > maxBefore {
		return false
	}
	function := make([]byte, q.PC-row.Lo+maxTeardown) // an instruction begins at PC if one does at Lo
	n, _ := q.Memory.ReadMemory(row.Lo, function)
	return a.InEpilogue(function[:n], row.Lo, q.PC)
}

// before reports whether the first of the instructions that tear the frame down before PC,
// as far as row covers them, has a row as wanted. Where it is not known at which byte an
// instruction begins, the longest way to PC is the likeliest.
func (q *Query) before(row *trad.Row, wanted func(before *trad.Row) bool) bool {
	for n := min(maxRun, q.PC-row.Lo); n > 0; n-- {
		at := q.PC - n
		first, out := q.Arch.ReadEpilogue(q.Read(at, maxTeardown), at)
		if out&arch.TearsDown == 0 {
			continue
		}
		for x := first; out != 0 && at < q.PC; {
			if _, last := q.Arch.ReadEpilogue(q.Read(at, int(x.Len)), at); last != 0 {
				break
			}
			at += uint64(x.Len)
			x, out = q.Arch.ReadEpilogue(q.Read(at, maxTeardown), at)
		}
		if out != 0 && at == q.PC {
			return wanted(&first)
		}
	}
	return false
}
