package cfi

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// Operations (DWARF 5, section 7.7.1).
const (
	opAddr         = 0x03
	opDeref        = 0x06
	opConst1u      = 0x08
	opConst1s      = 0x09
	opConst2u      = 0x0a
	opConst2s      = 0x0b
	opConst4u      = 0x0c
	opConst4s      = 0x0d
	opConst8u      = 0x0e
	opConst8s      = 0x0f
	opConstu       = 0x10
	opConsts       = 0x11
	opDup          = 0x12
	opDrop         = 0x13
	opOver         = 0x14
	opPick         = 0x15
	opSwap         = 0x16
	opRot          = 0x17
	opAbs          = 0x19
	opAnd          = 0x1a
	opDiv          = 0x1b
	opMinus        = 0x1c
	opMod          = 0x1d
	opMul          = 0x1e
	opNeg          = 0x1f
	opNot          = 0x20
	opOr           = 0x21
	opPlus         = 0x22
	opPlusUconst   = 0x23
	opShl          = 0x24
	opShr          = 0x25
	opShra         = 0x26
	opXor          = 0x27
	opBra          = 0x28
	opEq           = 0x29
	opGe           = 0x2a
	opGt           = 0x2b
	opLe           = 0x2c
	opLt           = 0x2d
	opNe           = 0x2e
	opSkip         = 0x2f
	opLit0         = 0x30
	opReg0         = 0x50
	opBreg0        = 0x70
	opRegx         = 0x90
	opFbreg        = 0x91
	opBregx        = 0x92
	opDerefSize    = 0x94
	opNop          = 0x96
	opCallFrameCFA = 0x9c
)

var operationNames = map[byte]string{
	opAddr: "addr", opDeref: "deref",
	opConst1u: "const1u", opConst1s: "const1s", opConst2u: "const2u", opConst2s: "const2s",
	opConst4u: "const4u", opConst4s: "const4s", opConst8u: "const8u", opConst8s: "const8s",
	opConstu: "constu", opConsts: "consts",
	opDup: "dup", opDrop: "drop", opOver: "over", opPick: "pick", opSwap: "swap", opRot: "rot",
	opAbs: "abs", opAnd: "and", opDiv: "div", opMinus: "minus", opMod: "mod", opMul: "mul",
	opNeg: "neg", opNot: "not", opOr: "or", opPlus: "plus", opPlusUconst: "plus_uconst",
	opShl: "shl", opShr: "shr", opShra: "shra", opXor: "xor",
	opBra: "bra", opEq: "eq", opGe: "ge", opGt: "gt", opLe: "le", opLt: "lt", opNe: "ne", opSkip: "skip",
	opRegx: "regx", opFbreg: "fbreg", opBregx: "bregx", opDerefSize: "deref_size",
	opNop: "nop", opCallFrameCFA: "call_frame_cfa",
}

func operationName(op byte) string {
	switch {
	case op >= opLit0 && op < opReg0:
		return fmt.Sprintf("lit%d", op-opLit0)
	case op >= opReg0 && op < opBreg0:
		return fmt.Sprintf("reg%d", op-opReg0)
	case op >= opBreg0 && op < opRegx:
		return fmt.Sprintf("breg%d", op-opBreg0)
	}
	if name, ok := operationNames[op]; ok {
		return name
	}
	return fmt.Sprintf("op%#02x", op)
}

// operand runs an operation that has an operand and touches neither registers nor
// memory. It reports whether op is one of these.
func (e *evaluation) operand(op byte) bool {
	c := &e.c
	switch op {
	case opAddr:
		e.push(c.Uint(int(e.x.ptrSize)))
	case opConst1u:
		e.push(uint64(c.U8()))
	case opConst1s:
		e.push(signExtend(uint64(c.U8()), 1))
	case opConst2u:
		e.push(uint64(c.U16()))
	case opConst2s:
		e.push(signExtend(uint64(c.U16()), 2))
	case opConst4u:
		e.push(uint64(c.U32()))
	case opConst4s:
		e.push(signExtend(uint64(c.U32()), 4))
	case opConst8u, opConst8s:
		e.push(c.U64())
	case opConstu:
		e.push(c.ULEB128())
	case opConsts:
		e.push(uint64(c.SLEB128()))
	case opPlusUconst:
		e.push(e.pop() + c.ULEB128())
	case opPick:
		e.pick(int(c.U8()))
	case opSkip, opBra:
		by := int(int16(c.U16()))
		if op == opBra && e.pop() == 0 || c.Bad {
			break
		}
		if to := c.Off + by; to < 0 || to > len(c.Data) {
			e.reason = fmt.Sprintf("branches to %+d, outside the expression", by)
		} else {
			c.Off = to
		}
	default:
		return false
	}
	return true
}

// compute runs an operation on the stack alone.
func (e *evaluation) compute(op byte) {
	switch {
	case op >= opLit0 && op < opReg0:
		e.push(uint64(op - opLit0))
		return
	case op >= opEq && op <= opNe || op >= opAnd && op <= opXor && op != opNeg && op != opNot:
		b := e.pop()
		a := e.pop()
		if e.reason == "" {
			e.push(e.binary(op, a, b))
		}
		return
	}
	switch op {
	case opNop:
	case opDup:
		e.pick(0)
	case opOver:
		e.pick(1)
	case opDrop:
		e.pop()
	case opSwap:
		e.rotate(2)
	case opRot:
		e.rotate(3)
	case opAbs:
		v := e.pop()
		if e.signed(v) < 0 {
			v = -v
		}
		e.push(v)
	case opNeg:
		e.push(-e.pop())
	case opNot:
		e.push(^e.pop())
	default:
		e.reason = "is unknown, or has no meaning in call frame information"
	}
}

// binary computes a op b, where b was on top. Comparisons, division and shra
// are signed, the other operations are not.
func (e *evaluation) binary(op byte, a, b uint64) uint64 {
	x, y := e.signed(a), e.signed(b)
	is := false
	switch op {
	case opAnd:
		return a & b
	case opOr:
		return a | b
	case opXor:
		return a ^ b
	case opPlus:
		return a + b
	case opMinus:
		return a - b
	case opMul:
		return a * b
	case opShl:
		return a << b
	case opShr:
		return a >> b
	case opShra:
		return uint64(x >> b)
	case opDiv, opMod:
		switch {
		case b == 0:
			e.reason = "divides by zero"
			return 0
		case op == opDiv:
			return uint64(x / y)
		}
		return a % b
	case opEq:
		is = x == y
	case opGe:
		is = x >= y
	case opGt:
		is = x > y
	case opLe:
		is = x <= y
	case opLt:
		is = x < y
	case opNe:
		is = x != y
	}
	if is {
		return 1
	}
	return 0
}

// String renders the operations as `breg7+8; deref; plus_uconst 16`. A branch shows
// the distance from the next operation in bytes.
func (x *expression) String() string {
	var b strings.Builder
	c := dwarf.Reader{Data: x.code, Big: x.big}
	for c.More() {
		if c.Off > 0 {
			b.WriteString("; ")
		}
		op := c.U8()
		b.WriteString(operationName(op))
		switch {
		case op == opConst1u, op == opPick, op == opDerefSize:
			fmt.Fprintf(&b, " %d", c.U8())
		case op == opConst1s:
			fmt.Fprintf(&b, " %d", int8(c.U8()))
		case op == opConst2u:
			fmt.Fprintf(&b, " %d", c.U16())
		case op == opConst2s:
			fmt.Fprintf(&b, " %d", int16(c.U16()))
		case op == opConst4u:
			fmt.Fprintf(&b, " %d", c.U32())
		case op == opConst4s:
			fmt.Fprintf(&b, " %d", int32(c.U32()))
		case op == opConst8u:
			fmt.Fprintf(&b, " %d", c.U64())
		case op == opConst8s:
			fmt.Fprintf(&b, " %d", int64(c.U64()))
		case op == opConstu, op == opPlusUconst, op == opRegx:
			fmt.Fprintf(&b, " %d", c.ULEB128())
		case op == opConsts:
			fmt.Fprintf(&b, " %d", c.SLEB128())
		case op == opAddr:
			fmt.Fprintf(&b, " %#x", c.Uint(int(x.ptrSize)))
		case op == opSkip, op == opBra:
			fmt.Fprintf(&b, " %+d", int16(c.U16()))
		case op >= opBreg0 && op < opRegx, op == opFbreg:
			fmt.Fprintf(&b, "%+d", c.SLEB128())
		case op == opBregx:
			fmt.Fprintf(&b, " %d", c.ULEB128())
			fmt.Fprintf(&b, "%+d", c.SLEB128())
		}
	}
	if c.Bad {
		b.WriteString("; (truncated)")
	}
	return b.String()
}
