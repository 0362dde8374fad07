package expr

import "github.com/sfwalk/sfwalk/format/dwarf"

// arrange runs an operation that moves values on the stack, branches, or calls another expression
// (DWARF 5, sections 2.5.1.3 and 2.5.1.5). It reports whether op is one of these.
func (e *evaluation) arrange(op byte) bool {
	r := &e.r
	switch op {
	case dwarf.OpNop:
	case dwarf.OpDup:
		e.pick(0)
	case dwarf.OpOver:
		e.pick(1)
	case dwarf.OpPick:
		e.pick(int(r.U8()))
	case dwarf.OpDrop:
		e.popOperand()
	case dwarf.OpSwap:
		e.stop(rotate(e.stack, 2))
	case dwarf.OpRot:
		e.stop(rotate(e.stack, 3))
	case dwarf.OpSkip, dwarf.OpBra:
		by := int(int16(r.U16()))
		if op == dwarf.OpBra && e.zero() || r.Bad || e.err != nil {
			break
		}
		e.stop(jump(r, by))
	case dwarf.OpCall2:
		e.call(op, uint64(r.U16()))
	case dwarf.OpCall4:
		e.call(op, uint64(r.U32()))
	case dwarf.OpCallRef:
		e.call(op, r.Uint(e.refSize()))
	default:
		return false
	}
	return true
}

// zero pops a number, and reports whether it is 0.
func (e *evaluation) zero() bool {
	n := len(e.stack)
	high := n > 0 && e.stack[n-1].high != 0
	return e.pop() == 0 && !high
}

// pick pushes a copy of the value that lies i below the top.
func (e *evaluation) pick(i int) {
	if i >= len(e.stack) {
		e.stop(tooShort)
		return
	}
	e.pushOperand(e.stack[len(e.stack)-1-i])
}

// call runs the expression of another entry on the same stack.
func (e *evaluation) call(op byte, ref uint64) {
	switch {
	case e.r.Bad || e.err != nil:
		return
	case e.env.Call == nil:
		e.fail(unavailable("another entry's expression"))
		return
	case e.calls == maxCalls:
		e.fail(malformed("calls nest deeper than %d", maxCalls))
		return
	}
	code, err := e.env.Call(op, ref)
	if err != nil {
		e.fail(err)
		return
	}
	e.calls++
	e.code(code)
	e.calls--
}
