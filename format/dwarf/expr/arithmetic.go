package expr

import (
	"math"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// arithmetic runs an operation on one or two numbers (DWARF 5, section 2.5.1.4). It reports whether
// op is one of these.
func (e *evaluation) arithmetic(op byte) bool {
	switch op {
	case dwarf.OpAbs, dwarf.OpNeg, dwarf.OpNot:
		e.unary(op)
	case dwarf.OpPlusUconst:
		n := e.r.ULEB128()
		v := e.popOperand()
		if v.t.opaque() {
			e.fail(notComputed())
		}
		if v.t.float() {
			e.fail(malformed("adds an integer to a float"))
		}
		if v.t.wide() {
			e.wideIntegers(dwarf.OpPlus, v, operand{bits: n})
			break
		}
		e.pushOperand(operand{bits: (v.bits + n) & mask(v.t.width(e.word)), t: v.t})
	case dwarf.OpAnd, dwarf.OpDiv, dwarf.OpMinus, dwarf.OpMod, dwarf.OpMul, dwarf.OpOr, dwarf.OpPlus, dwarf.OpShl, dwarf.OpShr, dwarf.OpShra, dwarf.OpXor,
		dwarf.OpEq, dwarf.OpGe, dwarf.OpGt, dwarf.OpLe, dwarf.OpLt, dwarf.OpNe:
		b := e.popOperand()
		a := e.popOperand()
		shift := op == dwarf.OpShl || op == dwarf.OpShr || op == dwarf.OpShra
		switch {
		case e.err != nil:
		case a.t.opaque() || b.t.opaque():
			e.fail(notComputed())
		case !a.t.like(b.t, e.word) && !shift:
			e.fail(malformed("the two values have different types"))
		case a.t.wideFloat():
			e.wideFloats(op, a, b)
		case a.t.float() || b.t.float():
			e.floats(op, a, b)
		case a.t.wide():
			e.wideIntegers(op, a, b)
		default:
			if a.t.generic() && !shift {
				a.t = b.t
			}
			e.integers(op, a, b)
		}
	default:
		return false
	}
	return true
}

func (e *evaluation) unary(op byte) {
	v := e.popOperand()
	size := v.t.width(e.word)
	if v.t.opaque() {
		e.fail(notComputed())
		return
	}
	if v.t.wideFloat() {
		e.wideFloatUnary(op, v)
		return
	}
	if v.t.float() {
		switch op {
		case dwarf.OpAbs:
			e.pushOperand(real(math.Abs(v.number()), v.t))
		case dwarf.OpNeg:
			e.pushOperand(real(-v.number(), v.t))
		default:
			e.fail(malformed("a float has no complement"))
		}
		return
	}
	if v.t.wide() {
		e.wideUnary(op, v)
		return
	}
	e.pushOperand(operand{bits: unaryInteger(op, v.bits, size, v.t.sign()) & mask(size), t: v.t})
}

func (e *evaluation) floats(op byte, a, b operand) {
	x, y := a.number(), b.number()
	switch op {
	case dwarf.OpPlus:
		x += y
	case dwarf.OpMinus:
		x -= y
	case dwarf.OpMul:
		x *= y
	case dwarf.OpDiv:
		x /= y
	default:
		if is, ok := compare(op, x, y); ok {
			e.push(truth(is))
		} else {
			e.fail(malformed("floats have no such operation"))
		}
		return
	}
	e.pushOperand(real(x, a.t))
}

// integers computes a op b.
func (e *evaluation) integers(op byte, a, b operand) {
	if b.t.wide() { // bits to shift by
		b.bits |= min(1, b.high) << 63
	}
	size := a.t.width(e.word)
	v, reason := binaryInteger(op, a.bits, b.bits, size, a.t.sign())
	if e.stop(reason) {
		return
	}
	if op >= dwarf.OpEq && op <= dwarf.OpNe {
		a.t = Type{}
	}
	e.pushOperand(operand{bits: v & mask(size), t: a.t})
}
