package expr

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

const tooShort = "stack is too short"

// literal reads the operand of an operation that pushes it, or a number that the operation's code
// has (DWARF 5, section 2.5.1.1). ok is false if op is none of these.
func literal(r *dwarf.Reader, op byte, addrSize int) (v uint64, ok bool) {
	switch op {
	case dwarf.OpAddr:
		return r.Uint(addrSize), true
	case dwarf.OpConst1u:
		return uint64(r.U8()), true
	case dwarf.OpConst1s:
		return uint64(int8(r.U8())), true
	case dwarf.OpConst2u:
		return uint64(r.U16()), true
	case dwarf.OpConst2s:
		return uint64(int16(r.U16())), true
	case dwarf.OpConst4u:
		return uint64(r.U32()), true
	case dwarf.OpConst4s:
		return uint64(int32(r.U32())), true
	case dwarf.OpConst8u, dwarf.OpConst8s:
		return r.U64(), true
	case dwarf.OpConstu:
		return r.ULEB128(), true
	case dwarf.OpConsts:
		return uint64(r.SLEB128()), true
	}
	return uint64(op - dwarf.OpLit0), op >= dwarf.OpLit0 && op < dwarf.OpReg0
}

// jump moves r by a number of bytes. reason is "" unless r would leave the expression.
func jump(r *dwarf.Reader, by int) (reason string) {
	to := r.Off + by
	if to < 0 || to > len(r.Data) {
		return fmt.Sprintf("branches to %+d, outside the expression", by)
	}
	r.Off = to
	return ""
}

// rotate moves the top value of a stack below the n-1 that follow it.
func rotate[T any](stack []T, n int) (reason string) {
	if len(stack) < n {
		return tooShort
	}
	part := stack[len(stack)-n:]
	top := part[n-1]
	copy(part[1:], part)
	part[0] = top
	return ""
}

// sign says which sign integers have.
type sign uint8

const (
	generic  sign = iota // division, comparisons, abs and shra see a sign; mod and shr do not
	unsigned             // shra alone sees a sign
	signed               // shr alone sees no sign
)

// unaryInteger computes abs, neg or not of an integer of size bytes. The result's bits above these
// mean nothing.
func unaryInteger(op byte, v uint64, size int, s sign) uint64 {
	switch {
	case op == dwarf.OpNot:
		return ^v
	case op == dwarf.OpNeg, s != unsigned && extend(v, size) < 0:
		return -v
	}
	return v
}

// binaryInteger computes a op b of integers of size bytes, where b was on top. The bits of v above
// these mean nothing. reason is "" unless there is no result.
func binaryInteger(op byte, a, b uint64, size int, s sign) (v uint64, reason string) {
	x, y := extend(a, size), extend(b, size)
	switch op {
	case dwarf.OpAnd:
		return a & b, ""
	case dwarf.OpOr:
		return a | b, ""
	case dwarf.OpXor:
		return a ^ b, ""
	case dwarf.OpPlus:
		return a + b, ""
	case dwarf.OpMinus:
		return a - b, ""
	case dwarf.OpMul:
		return a * b, ""
	case dwarf.OpShl:
		return a << b, ""
	case dwarf.OpShr:
		return a >> b, ""
	case dwarf.OpShra:
		return uint64(x >> b), ""
	case dwarf.OpDiv, dwarf.OpMod:
		switch {
		case b == 0:
			return 0, "divides by zero"
		case op == dwarf.OpDiv && s != unsigned:
			return uint64(x / y), ""
		case op == dwarf.OpDiv:
			return a / b, ""
		case s == signed:
			return uint64(x % y), ""
		}
		return a % b, ""
	}
	is := false
	if s == unsigned {
		is, _ = compare(op, a, b)
	} else {
		is, _ = compare(op, x, y)
	}
	return truth(is), ""
}

func truth(is bool) uint64 {
	if is {
		return 1
	}
	return 0
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
