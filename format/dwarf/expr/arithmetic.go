package expr

import "math"

// arithmetic runs an operation on one or two numbers (DWARF 5, section 2.5.1.4). It reports whether
// op is one of these.
func (e *evaluation) arithmetic(op byte) bool {
	switch op {
	case opAbs, opNeg, opNot:
		e.unary(op)
	case opPlusUconst:
		n := e.r.ULEB128()
		v := e.popOperand()
		if v.t.opaque() {
			e.fail(notComputed())
		}
		if v.t.float() {
			e.fail(malformed("adds an integer to a float"))
		}
		if v.t.wide() {
			e.wideIntegers(opPlus, v, operand{bits: n})
			break
		}
		e.pushOperand(operand{bits: (v.bits + n) & mask(v.t.width(e.word)), t: v.t})
	case opAnd, opDiv, opMinus, opMod, opMul, opOr, opPlus, opShl, opShr, opShra, opXor,
		opEq, opGe, opGt, opLe, opLt, opNe:
		b := e.popOperand()
		a := e.popOperand()
		shift := op == opShl || op == opShr || op == opShra
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
		case opAbs:
			e.pushOperand(real(math.Abs(v.number()), v.t))
		case opNeg:
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
	case op == opNot:
		n = ^n
	case op == opNeg, (v.t.generic() || v.t.signed()) && extend(n, size) < 0:
		n = -n
	}
	e.pushOperand(operand{bits: n & mask(size), t: v.t})
}

func (e *evaluation) floats(op byte, a, b operand) {
	x, y := a.number(), b.number()
	switch op {
	case opPlus:
		x += y
	case opMinus:
		x -= y
	case opMul:
		x *= y
	case opDiv:
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
	if (op == opDiv || op == opMod) && b.bits == 0 {
		e.fail(malformed("divides by zero"))
		return
	}
	v := a.bits
	switch op {
	case opAnd:
		v &= b.bits
	case opOr:
		v |= b.bits
	case opXor:
		v ^= b.bits
	case opPlus:
		v += b.bits
	case opMinus:
		v -= b.bits
	case opMul:
		v *= b.bits
	case opShl:
		v <<= b.bits
	case opShr:
		v >>= b.bits
	case opShra:
		v = uint64(x >> b.bits)
	case opDiv:
		if unsigned {
			v /= b.bits
		} else {
			v = uint64(x / y)
		}
	case opMod:
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
	case opEq:
		return x == y, true
	case opGe:
		return x >= y, true
	case opGt:
		return x > y, true
	case opLe:
		return x <= y, true
	case opLt:
		return x < y, true
	case opNe:
		return x != y, true
	}
	return false, false
}
