package arm64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// Sets of registers: those that a call preserves, and all whose values on entry PREVIOUS
// wants back.
const (
	calleeOK uint64 = (1<<30 - 1<<19) | 1<<rsp | 0xff<<(v0+8)
	tracked         = calleeOK | 1<<x30
)

// prologue is what the analysis of prologue values must know. Its registers have the numbers
// that reg has.
var prologue = &values.Machine{
	Decode:     decodeValues,
	Align:      size,
	MaxLen:     size,
	Regs:       nRegs,
	DWARF:      func(r values.Reg) trad.Reg { return dwarf(reg(r)) },
	SP:         values.Reg(rsp),
	FP:         values.Reg(x29),
	RA:         values.Reg(x30),
	Preserved:  values.Set(calleeOK),
	Floats:     0xffffffff << v0,
	Constant:   1<<16 - 1<<9, // where gcc's -fipa-ra keeps the size of a large frame
	Steady:     1<<31 - 1<<19,
	SavedOnce:  1<<31 - 1<<19,
	Unloaded:   1 << x30,
	Lost:       trad.NotTracked, // it may be where nobody has looked
	Arguments:  values.None,
	Probed:     values.None,
	LinkCopy:   values.None,
	SystemCall: 8,
	EndsThread: endsThread,
	InStub:     inStub,
	StackCheck: checksStack,
}

// machine is the search for ways out.
var machine = ahead.New(prologue)

// dwarf returns the DWARF number of a register.
func dwarf(r reg) trad.Reg {
	if r >= v0 {
		return 64 + trad.Reg(r-v0)
	}
	return trad.Reg(r)
}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending by DWARF number.
var preserved = [...]reg{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, v0 + 8, v0 + 9, v0 + 10, v0 + 11, v0 + 12, v0 + 13, v0 + 14, v0 + 15}

// flows says where control goes from an instruction.
var flows = [...]values.Flow{
	opCall: values.Call, opJump: values.Jump, opBranch: values.Branch, opBranchNE: values.BranchNE,
	opJumpReg: values.To, opStop: values.Stop, opBad: values.Bad,
}

// decodeValues decodes the instruction at code[at:] for the analysis.
func decodeValues(code []byte, at int, ops []values.Op) (values.Inst, []values.Op) {
	o := decode(code, at)
	dst, src, base := values.Reg(o.dst), values.Reg(o.src), values.Reg(o.base)
	in := values.Inst{Flow: flows[o.kind], Len: size, Nop: o.nop, Return: o.link, By: src, Target: o.target, Kill: values.Set(o.kill)}
	switch o.kind {
	case opBad:
		if at+size <= len(code) && code[at+2]|code[at+3] == 0 { // udf: a trap
			in.Flow = values.Stop
		}
	case opMove:
		ops = append(ops, values.Move(dst, src))
	case opConst:
		ops = append(ops, values.Const(dst, o.imm))
	case opKeep:
		ops = append(ops, values.Op{Kind: values.Insert, Dst: dst, Width: 16, Shift: o.shift, Imm: o.imm})
	case opLea:
		ops = append(ops, values.Op{Kind: values.Sum, Dst: dst, Base: base, Index: src, Imm: o.imm})
	case opSub:
		ops = append(ops, values.Op{Kind: values.Minus, Dst: dst, Base: base, Index: src})
	case opLoad, opStore:
		ops = transferValues(&o, ops)
	case opSign:
		ops = append(ops, values.Op{Kind: values.Sign})
	case opCompare:
		if o.dst != noReg {
			ops = append(ops, values.Op{Kind: values.Compare, Dst: dst, Src: src})
		}
	}
	return in, ops
}

// endsThread implements values.Machine.EndsThread: svc #0, for exit or exit_group
// (asm-generic/unistd.h).
func endsThread(code []byte, number int) bool {
	return (number == 93 || number == 94) && len(code) >= size && binary.LittleEndian.Uint32(code) == 0xd4000001
}

// transferValues appends what a load or store does.
func transferValues(o *op, ops []values.Op) []values.Op {
	base, off, width := values.Reg(o.base), o.imm, uint16(o.width)
	if o.pre {
		ops = append(ops, values.Add(base, base, o.writeback))
	}
	if o.kind == opLoad && o.dst == o.base && o.dst2 != noReg { // the base is lost before the second load
		ops = append(ops, values.Move(values.Temp, base))
		base = values.Temp
	}
	for i, r := range [...]reg{o.dst, o.dst2} {
		x := values.Op{Kind: values.Load, Dst: values.Reg(r), Src: values.None, Base: base, Index: values.None, Width: width, Imm: off + int32(i)*int32(width)}
		if o.kind == opStore {
			x.Kind, x.Dst, x.Src = values.Store, values.None, values.Reg(r)
		}
		if r != noReg || i == 0 {
			ops = append(ops, x)
		}
	}
	if o.writeback != 0 && !o.pre {
		ops = append(ops, values.Add(values.Reg(o.base), values.Reg(o.base), o.writeback))
	}
	return ops
}

// checksStack implements values.Machine.StackCheck: functions of Go begin with ldr x16, [x28,
// #16], then compare that with sp or with x17, an address below it, and b.ls.
func checksStack(code []byte, at int) bool {
	if at > 32 || at+size > len(code) || len(code) < size {
		return false
	}
	return binary.LittleEndian.Uint32(code) == 0xf9400b90 && binary.LittleEndian.Uint32(code[at:])&0xff00001f == 0x54000009
}
