package expr

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

// String renders the operations as `breg7+8; deref; plus_uconst 16`. A branch shows
// the distance from the next operation in bytes.
func (x *Rule) String() string {
	var b strings.Builder
	r := dwarf.Reader{Data: x.Code, Big: x.Big}
	for r.More() {
		if r.Off > 0 {
			b.WriteString("; ")
		}
		op := r.U8()
		b.WriteString(operationName(op))
		switch {
		case op == dwarf.OpPick, op == dwarf.OpDerefSize:
			fmt.Fprintf(&b, " %d", r.U8())
		case op == dwarf.OpPlusUconst, op == dwarf.OpRegx:
			fmt.Fprintf(&b, " %d", r.ULEB128())
		case op == dwarf.OpSkip, op == dwarf.OpBra:
			fmt.Fprintf(&b, " %+d", int16(r.U16()))
		case op >= dwarf.OpBreg0 && op < dwarf.OpRegx, op == dwarf.OpFbreg:
			fmt.Fprintf(&b, "%+d", r.SLEB128())
		case op == dwarf.OpBregx:
			fmt.Fprintf(&b, " %d", r.ULEB128())
			fmt.Fprintf(&b, "%+d", r.SLEB128())
		default:
			b.WriteString(literalText(&r, op, int(x.AddrSize)))
		}
	}
	if r.Bad {
		b.WriteString("; (truncated)")
	}
	return b.String()
}

// literalText renders the operand of an operation that pushes it; "" if op has none.
func literalText(r *dwarf.Reader, op byte, addrSize int) string {
	v, ok := literal(r, op, addrSize)
	switch {
	case !ok || op >= dwarf.OpLit0:
		return ""
	case op == dwarf.OpAddr:
		return fmt.Sprintf(" %#x", v)
	case op == dwarf.OpConst1s, op == dwarf.OpConst2s, op == dwarf.OpConst4s, op == dwarf.OpConst8s, op == dwarf.OpConsts:
		return fmt.Sprintf(" %d", int64(v))
	}
	return fmt.Sprintf(" %d", v)
}
