package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// maxPop is the length in bytes of an instruction that pops a register, and of a fence behind it.
const maxPop = 5

// popped answers for code that has just popped an address into a register, and jumps there. If a
// call stands before that address, the jump is the function's return.
func popped(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if a.ReturnPopped == nil {
		return row, false
	}
	code, at := q.Code()
	for n := 1; n <= min(maxPop, at); n++ {
		by, ok := a.ReturnPopped(code[at:], func() []byte { return code[at-n : at] })
		if !ok {
			continue
		}
		row = spRow(q, -int32(a.SPFromCFA))
		row.RA = trad.Rule{Kind: trad.InReg, Reg: by}
		c, ok := q.Apply(&row)
		return row, ok && followsCall(q, c.PC.Bits)
	}
	return row, false
}

// replaced answers for the return of a thunk, which jumps to a function: the instruction before it
// has replaced the return address of a call that never comes back. That of the function's caller is
// behind it. is says that PC is at such a return.
func replaced(q *frame.Query) (row trad.Row, is, ok bool) {
	a := q.Arch
	if a.ReturnReplaced == nil {
		return row, false, false
	}
	code, at := q.Code()
	if !a.ReturnReplaced(code[:at]) {
		return row, false, false
	}
	top, out := a.ReadEpilogue(code[at:], q.PC)
	if out&arch.TearsDown == 0 || out&arch.ByJump != 0 || top.CFA.Kind != trad.InReg || top.CFA.Reg != a.SP {
		return row, false, false
	}
	if c, ok := q.Apply(&top); ok && followsCall(q, c.PC.Bits) {
		return row, false, false // it returns to the address that it has put there
	}
	row = spRow(q, top.CFA.Off+int32(a.PtrSize))
	c, ok := q.Apply(&row)
	return row, true, ok && followsCall(q, c.PC.Bits)
}
