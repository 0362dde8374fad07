package x86

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// DecodeStores is Decode for dataflow.Machine.Stores: a store of less than a word, or of a number
// in the instruction, has its value, and a number that is moved to a part of a register is there.
// The rest of that register is not right then.
func (d *Decoder) DecodeStores(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	in, ops := d.Decode(code, at, ops)
	x, err := x86asm.Decode(code[at:min(len(code), at+MaxLen)], d.mode)
	if err != nil || int(in.Len) != x.Len || x.Op != x86asm.MOV && x.Op != x86asm.XOR {
		return in, ops
	}
	r, toRegister := x.Args[0].(x86asm.Reg)
	imm, isImm := x.Args[1].(x86asm.Imm)
	isImm = isImm && int64(imm) >= math.MinInt32 && int64(imm) <= math.MaxInt32
	from, isReg := x.Args[1].(x86asm.Reg)
	highByte := func(r x86asm.Reg) bool { return r >= x86asm.AH && r <= x86asm.BH }
	switch {
	case x.Op == x86asm.XOR:
		if toRegister && isReg && r == from && d.general(r) != dataflow.None {
			return in, append(ops, dataflow.Const(d.general(r), 0))
		}
	case toRegister:
		if isImm && !highByte(r) && d.general(r) != dataflow.None {
			return in, append(ops[:0], dataflow.Const(d.general(r), int32(imm)))
		}
	case len(ops) == 1 && ops[0].Kind == dataflow.Store && ops[0].Src == dataflow.None:
		switch {
		case isImm:
			ops[0].Src = dataflow.Temp
			return in, []dataflow.Op{dataflow.Const(dataflow.Temp, int32(imm)), ops[0]}
		case isReg && !highByte(from):
			ops[0].Src = d.general(from)
		}
	}
	return in, ops
}
