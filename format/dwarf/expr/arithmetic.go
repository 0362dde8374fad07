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
	n := v.bits
	switch {
	case op == dwarf.OpNot:
		n = ^n
	case op == dwarf.OpNeg, (v.t.generic() || v.t.signed()) && extend(n, size) < 0:
		n = -n
	}
	e.pushOperand(operand{bits: n & mask(size), t: v.t})
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
			e.truth(is)
		} else {
			e.fail(malformed("floats have no such operation"))
		}
		return
	}
	e.pushOperand(real(x, a.t))
}

// integers computes a op b. Of the generic type, division, comparisons and shra take numbers with a
// sign; mod and shr do not.
func (e *evaluation) integers(op byte, a, b operand) {
	size := a.t.width(e.word)
	unsigned := !a.t.generic() && !a.t.signed()
	if b.t.wide() { // bits to shift by
		b.bits |= min(1, b.high) << 63
	}
	x, y := extend(a.bits, size), extend(b.bits, min(8, b.t.width(e.word)))
	var is, ok bool
	if unsigned {
		is, ok = compare(op, a.bits, b.bits)
	} else {
		is, ok = compare(op, x, y)
	}
	if ok {
		e.truth(is)
		return
	}
	if (op == dwarf.OpDiv || op == dwarf.OpMod) && b.bits == 0 {
		e.fail(malformed("divides by zero"))
		return
	}
	v := a.bits
	switch op {
	case dwarf.OpAnd:
		v &= b.bits
	case dwarf.OpOr:
		v |= b.bits
	case dwarf.OpXor:
		v ^= b.bits
	case dwarf.OpPlus:
		v += b.bits
	case dwarf.OpMinus:
		v -= b.bits
	case dwarf.OpMul:
		v *= b.bits
	case dwarf.OpShl:
		v <<= b.bits
	case dwarf.OpShr:
		v >>= b.bits
	case dwarf.OpShra:
		v = uint64(x >> b.bits)
	case dwarf.OpDiv:
		if unsigned {
			v /= b.bits
		} else {
			v = uint64(x / y)
		}
	case dwarf.OpMod:
		if a.t.signed() {
			v = uint64(x % y)
		} else {
			v %= b.bits
		}
	}
	e.pushOperand(operand{bits: v & mask(size), t: a.t})
}

// truth pushes 1 or 0, of the generic type.
func (e *evaluation) truth(is bool) {
	if is {
		e.push(1)
	} else {
		e.push(0)
	}
}

// compare compares two numbers; ok is false if op compares nothing.
func compare[T int | int64 | uint64 | float64](op byte, x, y T) (is, ok bool) {
	switch op {
	case dwarf.OpEq:
		return x == y, true
	case dwarf.OpGe:
		return x >= y, true
	case dwarf.OpGt:
		return x > y, true
	case dwarf.OpLe:
		return x <= y, true
	case dwarf.OpLt:
		return x < y, true
	case dwarf.OpNe:
		return x != y, true
	}
	return false, false
}
