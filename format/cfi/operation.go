package cfi

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

var operationNames = map[byte]string{
	dwarf.OpAddr: "addr", dwarf.OpDeref: "deref",
	dwarf.OpConst1u: "const1u", dwarf.OpConst1s: "const1s", dwarf.OpConst2u: "const2u", dwarf.OpConst2s: "const2s",
	dwarf.OpConst4u: "const4u", dwarf.OpConst4s: "const4s", dwarf.OpConst8u: "const8u", dwarf.OpConst8s: "const8s",
	dwarf.OpConstu: "constu", dwarf.OpConsts: "consts",
	dwarf.OpDup: "dup", dwarf.OpDrop: "drop", dwarf.OpOver: "over", dwarf.OpPick: "pick", dwarf.OpSwap: "swap", dwarf.OpRot: "rot",
	dwarf.OpAbs: "abs", dwarf.OpAnd: "and", dwarf.OpDiv: "div", dwarf.OpMinus: "minus", dwarf.OpMod: "mod", dwarf.OpMul: "mul",
	dwarf.OpNeg: "neg", dwarf.OpNot: "not", dwarf.OpOr: "or", dwarf.OpPlus: "plus", dwarf.OpPlusUconst: "plus_uconst",
	dwarf.OpShl: "shl", dwarf.OpShr: "shr", dwarf.OpShra: "shra", dwarf.OpXor: "xor",
	dwarf.OpBra: "bra", dwarf.OpEq: "eq", dwarf.OpGe: "ge", dwarf.OpGt: "gt", dwarf.OpLe: "le", dwarf.OpLt: "lt", dwarf.OpNe: "ne", dwarf.OpSkip: "skip",
	dwarf.OpRegx: "regx", dwarf.OpFbreg: "fbreg", dwarf.OpBregx: "bregx", dwarf.OpDerefSize: "deref_size",
	dwarf.OpNop: "nop", dwarf.OpCallFrameCFA: "call_frame_cfa",
}

func operationName(op byte) string {
	switch {
	case op >= dwarf.OpLit0 && op < dwarf.OpReg0:
		return fmt.Sprintf("lit%d", op-dwarf.OpLit0)
	case op >= dwarf.OpReg0 && op < dwarf.OpBreg0:
		return fmt.Sprintf("reg%d", op-dwarf.OpReg0)
	case op >= dwarf.OpBreg0 && op < dwarf.OpRegx:
		return fmt.Sprintf("breg%d", op-dwarf.OpBreg0)
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
	case dwarf.OpAddr:
		e.push(c.Uint(int(e.x.ptrSize)))
	case dwarf.OpConst1u:
		e.push(uint64(c.U8()))
	case dwarf.OpConst1s:
		e.push(signExtend(uint64(c.U8()), 1))
	case dwarf.OpConst2u:
		e.push(uint64(c.U16()))
	case dwarf.OpConst2s:
		e.push(signExtend(uint64(c.U16()), 2))
	case dwarf.OpConst4u:
		e.push(uint64(c.U32()))
	case dwarf.OpConst4s:
		e.push(signExtend(uint64(c.U32()), 4))
	case dwarf.OpConst8u, dwarf.OpConst8s:
		e.push(c.U64())
	case dwarf.OpConstu:
		e.push(c.ULEB128())
	case dwarf.OpConsts:
		e.push(uint64(c.SLEB128()))
	case dwarf.OpPlusUconst:
		e.push(e.pop() + c.ULEB128())
	case dwarf.OpPick:
		e.pick(int(c.U8()))
	case dwarf.OpSkip, dwarf.OpBra:
		by := int(int16(c.U16()))
		if op == dwarf.OpBra && e.pop() == 0 || c.Bad {
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
	case op >= dwarf.OpLit0 && op < dwarf.OpReg0:
		e.push(uint64(op - dwarf.OpLit0))
		return
	case op >= dwarf.OpEq && op <= dwarf.OpNe || op >= dwarf.OpAnd && op <= dwarf.OpXor && op != dwarf.OpNeg && op != dwarf.OpNot:
		b := e.pop()
		a := e.pop()
		if e.reason == "" {
			e.push(e.binary(op, a, b))
		}
		return
	}
	switch op {
	case dwarf.OpNop:
	case dwarf.OpDup:
		e.pick(0)
	case dwarf.OpOver:
		e.pick(1)
	case dwarf.OpDrop:
		e.pop()
	case dwarf.OpSwap:
		e.rotate(2)
	case dwarf.OpRot:
		e.rotate(3)
	case dwarf.OpAbs:
		v := e.pop()
		if e.signed(v) < 0 {
			v = -v
		}
		e.push(v)
	case dwarf.OpNeg:
		e.push(-e.pop())
	case dwarf.OpNot:
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
	case dwarf.OpAnd:
		return a & b
	case dwarf.OpOr:
		return a | b
	case dwarf.OpXor:
		return a ^ b
	case dwarf.OpPlus:
		return a + b
	case dwarf.OpMinus:
		return a - b
	case dwarf.OpMul:
		return a * b
	case dwarf.OpShl:
		return a << b
	case dwarf.OpShr:
		return a >> b
	case dwarf.OpShra:
		return uint64(x >> b)
	case dwarf.OpDiv, dwarf.OpMod:
		switch {
		case b == 0:
			e.reason = "divides by zero"
			return 0
		case op == dwarf.OpDiv:
			return uint64(x / y)
		}
		return a % b
	case dwarf.OpEq:
		is = x == y
	case dwarf.OpGe:
		is = x >= y
	case dwarf.OpGt:
		is = x > y
	case dwarf.OpLe:
		is = x <= y
	case dwarf.OpLt:
		is = x < y
	case dwarf.OpNe:
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
		case op == dwarf.OpConst1u, op == dwarf.OpPick, op == dwarf.OpDerefSize:
			fmt.Fprintf(&b, " %d", c.U8())
		case op == dwarf.OpConst1s:
			fmt.Fprintf(&b, " %d", int8(c.U8()))
		case op == dwarf.OpConst2u:
			fmt.Fprintf(&b, " %d", c.U16())
		case op == dwarf.OpConst2s:
			fmt.Fprintf(&b, " %d", int16(c.U16()))
		case op == dwarf.OpConst4u:
			fmt.Fprintf(&b, " %d", c.U32())
		case op == dwarf.OpConst4s:
			fmt.Fprintf(&b, " %d", int32(c.U32()))
		case op == dwarf.OpConst8u:
			fmt.Fprintf(&b, " %d", c.U64())
		case op == dwarf.OpConst8s:
			fmt.Fprintf(&b, " %d", int64(c.U64()))
		case op == dwarf.OpConstu, op == dwarf.OpPlusUconst, op == dwarf.OpRegx:
			fmt.Fprintf(&b, " %d", c.ULEB128())
		case op == dwarf.OpConsts:
			fmt.Fprintf(&b, " %d", c.SLEB128())
		case op == dwarf.OpAddr:
			fmt.Fprintf(&b, " %#x", c.Uint(int(x.ptrSize)))
		case op == dwarf.OpSkip, op == dwarf.OpBra:
			fmt.Fprintf(&b, " %+d", int16(c.U16()))
		case op >= dwarf.OpBreg0 && op < dwarf.OpRegx, op == dwarf.OpFbreg:
			fmt.Fprintf(&b, "%+d", c.SLEB128())
		case op == dwarf.OpBregx:
			fmt.Fprintf(&b, " %d", c.ULEB128())
			fmt.Fprintf(&b, "%+d", c.SLEB128())
		}
	}
	if c.Bad {
		b.WriteString("; (truncated)")
	}
	return b.String()
}
