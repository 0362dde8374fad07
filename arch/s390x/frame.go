package s390x

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	entrySP = -saveArea    // r15 on entry, from the CFA
	nRegs   = int(F15) + 1 // registers that are followed

	// Sets of registers: those that a call preserves, and all whose values on entry PREVIOUS
	// wants back.
	calleeOK uint32 = 1<<R6 | 1<<R7 | 1<<R8 | 1<<R9 | 1<<R10 | 1<<R11 | 1<<R12 | 1<<R13 | 1<<R15 | 0xff<<F8
	tracked         = calleeOK | 1<<R14
)

// prologue is what the analysis of prologue values must know. Its registers have the numbers
// that DWARF gives them.
var prologue = &values.Machine{
	Decode:     decodeValues,
	Align:      2,
	MaxLen:     6,
	Regs:       nRegs,
	DWARF:      func(r values.Reg) trad.Reg { return trad.Reg(r) },
	SP:         values.Reg(R15),
	FP:         values.Reg(R11),
	RA:         values.Reg(R14),
	EntrySP:    entrySP,
	Preserved:  values.Set(calleeOK),
	Floats:     0xffff << F0,
	Steady:     1<<R15 - 1<<R6,
	Unloaded:   1 << R15,
	SaveArea:   saveArea,
	BackChain:  true,
	Lost:       trad.Undefined,
	Arguments:  values.None,
	Probed:     values.Reg(R14),
	LinkCopy:   values.Reg(R5),
	SystemCall: values.Reg(R1),
	EndsThread: endsThread,
	InStub:     inStub,
	StackCheck: checksStack,
	Regain:     addsPool,
}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending.
var preserved = [...]trad.Reg{R6, R7, R8, R9, R10, R12, R13, F8, F10, F12, F14, F9, F11, F13, F15}

// machine is the search for ways out.
var machine = ahead.New(prologue)

// followed returns the number of a register for the analysis.
func followed(r trad.Reg) values.Reg {
	if int(r) >= nRegs {
		return values.None
	}
	return values.Reg(r)
}

// flows says where control goes from an instruction.
var flows = [...]values.Flow{
	opCall: values.Call, opJump: values.Jump, opBranch: values.Branch, opBranchNE: values.BranchNE,
	opJumpReg: values.To, opMaybeReg: values.MaybeTo, opJumpAway: values.Away, opStop: values.Stop, opBad: values.Bad,
}

// decodeValues decodes the instruction at code[at:] for the analysis.
func decodeValues(code []byte, at int, ops []values.Op) (values.Inst, []values.Op) {
	o := decode(code, at)
	dst, src, base := followed(o.dst), followed(o.src), followed(o.base)
	in := values.Inst{Flow: flows[o.kind], Len: o.len, Nop: o.nop, Return: o.src == R14, By: src, Target: o.target, Kill: values.Set(o.kill)}
	switch o.kind {
	case opBad:
		if code[at] == 0 && at+1 < len(code) && code[at+1] == 0 { // will never be one: a trap
			in.Flow = values.Stop
		}
	case opMove:
		ops = append(ops, values.Move(dst, src))
	case opConst:
		ops = append(ops, values.Const(dst, o.imm))
	case opLea:
		if o.src == R15 { // an index as good as any
			base, src = src, base
		}
		ops = append(ops, values.Op{Kind: values.Sum, Dst: dst, Base: base, Index: src, Imm: o.imm})
	case opSub:
		ops = append(ops, values.Op{Kind: values.Minus, Dst: dst, Base: base, Index: src})
	case opLoad:
		ops = append(ops, values.LoadWord(dst, base, o.imm))
	case opLoads:
		off := o.imm
		if o.loads(o.base) && o.base != o.last { // the base is lost before the last load
			ops = append(ops, values.Add(values.Temp, base, off))
			base, off = values.Temp, 0
		}
		for r := o.dst; ; r, off = (r+1)&15, off+8 {
			if ops = append(ops, values.LoadWord(values.Reg(r), base, off)); r == o.last {
				break
			}
		}
	case opStore:
		ops = append(ops, values.StoreTo(base, o.imm, o.width, src))
	case opStores:
		for r, off := o.dst, o.imm; ; r, off = (r+1)&15, off+8 {
			if ops = append(ops, values.StoreTo(base, off, 8, values.Reg(r))); r == o.last {
				break
			}
		}
	case opCompare, opBranchNE:
		if dst != values.None {
			ops = append(ops, values.Op{Kind: values.Compare, Dst: dst, Src: src})
		}
	}
	return in, ops
}

// endsThread implements values.Machine.EndsThread: svc, for exit or exit_group
// (asm/unistd_64.h). The number is in the instruction, unless it is 0 there.
func endsThread(code []byte, number int) bool {
	if len(code) < 2 || code[0] != 0x0a {
		return false
	}
	if code[1] != 0 {
		number = int(code[1])
	}
	return number == 1 || number == 248
}

// addsPool implements values.Machine.Regain, for an instruction that adds a number in memory
// to r11 or r15: a very large frame is taken down that way, by a constant that is not in the
// code. What then loads r15 does so from the slot that r15 was saved in.
func addsPool(a *values.Analysis, s *values.State, r values.Reg, next int32) {
	for range 24 {
		in, ops := a.Peek(next)
		if off, ok := loadsSP(ops, r); ok {
			for _, x := range s.Slots() { // the back chain is such a slot, too, but not beside r14's
				if _, ok := x.At.Distance(); ok && x.Val == values.FromCFA(entrySP) && s.Load(x.At.Plus(-8)) == values.OnEntry(values.Reg(R14)) {
					s.Set(r, x.At.Plus(-off), next)
				}
			}
			return
		}
		if !in.Harmless() {
			return
		}
		next += int32(in.Len)
	}
}

// loadsSP reports whether an instruction loads r15 from memory at register r, and at which
// distance.
func loadsSP(ops []values.Op, r values.Reg) (off int32, ok bool) {
	for i, from := range ops {
		if from.Kind != values.Load || from.Dst != values.Reg(R15) {
			continue
		}
		if off = from.Imm; from.Base == values.Temp && i > 0 {
			from, off = ops[0], off+ops[0].Imm
		}
		return off, from.Base == r
	}
	return 0, false
}

// checksStack implements values.Machine.StackCheck: functions of Go begin with lg
// %r10,16(%r13), then clgrj of r10 with r15, or with r11, an address below it.
func checksStack(code []byte, at int) bool {
	return match(code, 0xe3, 0xa0, 0xd0, 0x10, 0x00, 0x04) &&
		(match(code[at:], 0xec, 0xaf, -1, -1, -1, 0x65) || match(code[at:], 0xec, 0xab, -1, -1, -1, 0x65))
}
