package amd64

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	nRegs    = int(R15) + 1 // registers that are followed
	calleeOK = 1<<RBX | 1<<RBP | 1<<RSP | 1<<R12 | 1<<R13 | 1<<R14 | 1<<R15
	entrySP  = -8 // rsp on entry is CFA-8
)

// prologue is what the analysis of prologue values must know. Its registers have the numbers
// that DWARF gives them; the return address has that of its column.
var prologue = &values.Machine{
	Decode:     decodeValues,
	Align:      1,
	MaxLen:     15,
	Regs:       int(RIP) + 1,
	DWARF:      func(r values.Reg) trad.Reg { return trad.Reg(r) },
	SP:         values.Reg(RSP),
	FP:         values.Reg(RBP),
	RA:         values.Reg(RIP),
	Pushed:     -8,
	EntrySP:    entrySP,
	Preserved:  calleeOK,
	Steady:     calleeOK &^ (1 << RSP),
	SavedOnce:  calleeOK &^ (1 << RSP),
	Chained:    true,
	Moving:     true,
	Lost:       trad.Undefined,
	Arguments:  values.Reg(R10),
	Probed:     values.Reg(R11),
	LinkCopy:   values.None,
	SystemCall: values.Reg(RAX),
	EndsThread: endsThread,
	StackCheck: checksStack,
	Apart:      apart,
	Probes:     probes,
}

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
	opJumpAway: values.Away, opReturn: values.To, opStop: values.Stop, opBad: values.Bad,
}

// decodeValues decodes the instruction at code[at:] for the analysis.
func decodeValues(code []byte, at int, ops []values.Op) (values.Inst, []values.Op) {
	const sp, fp = values.Reg(RSP), values.Reg(RBP)
	o := decode(code, at)
	in := values.Inst{Flow: flows[o.kind], Len: o.len, Nop: o.nop, Return: o.kind == opReturn, By: values.Reg(RIP), Target: o.target, Kill: values.Set(o.kill)}
	dst, src, base := followed(o.dst), followed(o.src), followed(o.base)
	switch o.kind {
	case opOther:
		in.Nop = in.Nop || vzeroupper(code[at:])
		switch { // how small code makes the number of a system call
		case o.len == 2 && code[at] == 0x31 && code[at+1] == 0xc0: // xor eax,eax
			ops = append(ops, values.Const(values.Reg(RAX), 0))
		case o.len == 2 && code[at] == 0xb0: // mov al,n
			in.Kill &^= 1 << RAX
			ops = append(ops, values.Op{Kind: values.Insert, Dst: values.Reg(RAX), Width: 8, Imm: int32(code[at+1])})
		}
	case opPush:
		if src == values.None && base != values.None {
			ops = append(ops, values.LoadWord(values.Temp, base, o.imm))
			src = values.Temp
		}
		ops = append(ops, values.StoreTo(sp, -8, 8, src), values.Add(sp, sp, -8))
	case opCallNext:
		if in.Flow = values.Next; at+int(o.len) == len(code) {
			in.Flow = values.Call // of the function that stands behind this one
			break
		}
		ops = append(ops, values.StoreTo(sp, -8, 8, values.None), values.Add(sp, sp, -8))
	case opPop:
		if ops = append(ops, values.LoadWord(dst, sp, 0)); dst != sp {
			ops = append(ops, values.Add(sp, sp, 8))
		}
	case opMove:
		ops = append(ops, values.Move(dst, src))
	case opConst:
		ops = append(ops, values.Const(dst, o.imm))
	case opLea:
		ops = append(ops, values.Add(dst, base, o.imm))
	case opLoad:
		ops = append(ops, values.LoadWord(dst, base, o.imm))
	case opStore:
		ops = append(ops, values.StoreTo(base, o.imm, uint16(o.width), src))
	case opAdd:
		ops = append(ops, values.Add(dst, dst, o.imm))
	case opAddReg:
		ops = append(ops, values.Op{Kind: values.Sum, Dst: dst, Base: dst, Index: src})
	case opSubReg:
		ops = append(ops, values.Op{Kind: values.Minus, Dst: dst, Base: dst, Index: src})
	case opSwap:
		ops = append(ops, values.Move(values.Temp, dst), values.Move(dst, src), values.Move(src, values.Temp))
	case opAlign:
		ops = append(ops, values.Op{Kind: values.Round, Dst: dst})
	case opLeave:
		ops = append(ops, values.Move(sp, fp), values.LoadWord(fp, sp, 0), values.Add(sp, sp, 8))
	case opEnter:
		ops = append(ops, values.StoreTo(sp, -8, 8, fp), values.Add(sp, sp, -8), values.Move(fp, sp), values.Add(sp, sp, -o.imm))
	case opJumpAway:
		in.By = src
	case opCompare:
		ops = append(ops, values.Op{Kind: values.Compare, Dst: dst, Src: src})
	}
	return in, ops
}

// endsThread implements values.Machine.EndsThread: syscall, for exit or exit_group
// (asm/unistd_64.h).
func endsThread(code []byte, number int) bool {
	return (number == 60 || number == 231) && len(code) >= 2 && code[0] == 0x0f && code[1] == 0x05
}

// vzeroupper reports whether code begins with that instruction.
func vzeroupper(code []byte) bool {
	return len(code) >= 3 && code[0] == 0xc5 && code[1]&3 == 0 && code[2] == 0x77
}

// apart reports whether code is a cold part that was split off: it begins with a lone nop,
// for the exception tables' sake; functions begin with none, or with several for patching.
func apart(code []byte) bool { return len(code) > 1 && code[0] == 0x90 && code[1] != 0x90 }

// probes implements values.Machine.Probes: the routine preserves rax, the frame's size, which
// what stands behind the call subtracts.
func probes(s *values.State, next []values.Op) bool {
	const rax, sp = values.Reg(RAX), values.Reg(RSP)
	if len(next) != 1 || next[0].Kind != values.Minus || next[0].Dst != sp || next[0].Index != rax {
		return false
	}
	_, ok := s.Reg(rax).Number()
	return ok
}

// checksStack implements values.Machine.StackCheck: a comparison of rsp (or of r12, an
// address below it) with the limit that r14 points to, and a jbe.
func checksStack(code []byte, at int) bool {
	if code[at] != 0x76 && (code[at] != 0x0f || at+1 >= len(code) || code[at+1] != 0x86) {
		return false
	}
	p := code[max(0, at-4):at] // cmp 0x10(%r14),%rsp or %r12
	return len(p) == 4 && (p[0] == 0x49 && p[2] == 0x66 || p[0] == 0x4d && p[2] == 0x66) && p[1] == 0x3b && p[3] == 0x10
}
