package gostack

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/trad"
)

var x86Regs = map[x86asm.Reg]trad.Reg{
	x86asm.RAX: amd64.RAX, x86asm.RBX: amd64.RBX, x86asm.RCX: amd64.RCX, x86asm.RDX: amd64.RDX,
	x86asm.RSI: amd64.RSI, x86asm.RDI: amd64.RDI, x86asm.RBP: amd64.RBP, x86asm.RSP: amd64.RSP,
	x86asm.R8: amd64.R8, x86asm.R9: amd64.R9, x86asm.R10: amd64.R10, x86asm.R11: amd64.R11,
	x86asm.R12: amd64.R12, x86asm.R13: amd64.R13, x86asm.R14: amd64.R14, x86asm.R15: amd64.R15,
}

// x86Parts are the narrower registers: what is written to one changes the whole.
var x86Parts = func() map[x86asm.Reg]trad.Reg {
	order := []trad.Reg{amd64.RAX, amd64.RCX, amd64.RDX, amd64.RBX, amd64.RSP, amd64.RBP, amd64.RSI, amd64.RDI,
		amd64.R8, amd64.R9, amd64.R10, amd64.R11, amd64.R12, amd64.R13, amd64.R14, amd64.R15}
	parts := map[x86asm.Reg]trad.Reg{x86asm.AH: amd64.RAX, x86asm.CH: amd64.RCX, x86asm.DH: amd64.RDX, x86asm.BH: amd64.RBX}
	for i, r := range order {
		parts[x86asm.EAX+x86asm.Reg(i)] = r
		parts[x86asm.AX+x86asm.Reg(i)] = r
	}
	for i, r := range []x86asm.Reg{x86asm.AL, x86asm.CL, x86asm.DL, x86asm.BL, x86asm.SPB, x86asm.BPB, x86asm.SIB, x86asm.DIB,
		x86asm.R8B, x86asm.R9B, x86asm.R10B, x86asm.R11B, x86asm.R12B, x86asm.R13B, x86asm.R14B, x86asm.R15B} {
		parts[r] = order[i]
	}
	return parts
}()

// decodeX86 reads one instruction.
func decodeX86(code []byte, pc uint64) (in instruction, ok bool) {
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Len == 0 {
		return in, false
	}
	in.size = x.Len
	next := pc + uint64(x.Len)
	switch x.Op {
	case x86asm.RET, x86asm.UD2, x86asm.UD1, x86asm.HLT:
		in.flow = leaving
		return in, true
	case x86asm.INT:
		in.flow = leaving // a breakpoint, where the runtime does not go on
		return in, true
	case x86asm.CALL, x86asm.JMP:
		in.flow = call
		if x.Op == x86asm.JMP {
			in.flow = jump
		}
		if rel, ok := x.Args[0].(x86asm.Rel); ok {
			in.target = next + uint64(int64(rel))
		}
		return in, true
	}
	if rel, ok := x.Args[0].(x86asm.Rel); ok {
		in.flow, in.target = branch, next+uint64(int64(rel))
		if x.Op == x86asm.LOOP || x.Op == x86asm.LOOPE || x.Op == x86asm.LOOPNE {
			in.add(lose, amd64.RCX, none, 0)
		}
		return in, true
	}
	in.ops = x86Ops(&x, code[0] == 0x64, next)
	return in, true
}

// x86Ops returns what an instruction does that control runs through to next. fs says that
// it addresses memory by the thread's own base.
func x86Ops(x *x86asm.Inst, fs bool, next uint64) []op {
	var in instruction
	dst, isReg := x86Reg(x.Args[0])
	mem, isMem := x.Args[0].(x86asm.Mem)
	imm, isImm := x.Args[1].(x86asm.Imm)
	whole := x.DataSize == 64 && isReg && x86Regs[x.Args[0].(x86asm.Reg)] == dst
	switch x.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ:
		src := none
		if x.Op == x86asm.PUSH && isReg {
			src = dst
		}
		in.add(store, amd64.RSP, src, -8)
		in.add(set, amd64.RSP, amd64.RSP, -8)
		return in.ops
	case x86asm.POP, x86asm.POPF, x86asm.POPFD, x86asm.POPFQ:
		if x.Op == x86asm.POP && isReg {
			in.add(load, dst, amd64.RSP, 0)
		}
		if dst != amd64.RSP || !isReg {
			in.add(set, amd64.RSP, amd64.RSP, 8)
		}
		return in.ops
	case x86asm.LEAVE:
		in.add(set, amd64.RSP, amd64.RBP, 8)
		in.add(load, amd64.RBP, amd64.RBP, 0)
		return in.ops
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.PAUSE, x86asm.CLD, x86asm.STD, x86asm.LFENCE, x86asm.MFENCE, x86asm.SFENCE:
		return nil
	case x86asm.MOV, x86asm.LEA:
		if from, ok := x.Args[1].(x86asm.Mem); ok && whole {
			return x86From(x.Op == x86asm.LEA, dst, from, fs, next)
		}
		if from, ok := x86Reg(x.Args[1]); ok && whole {
			in.add(set, dst, from, 0)
			return in.ops
		}
		if isImm && isReg {
			in.add(set, dst, none, int64(imm)) // of 32 bits: extended with zeros
			return in.ops
		}
	case x86asm.ADD, x86asm.SUB, x86asm.AND:
		if isImm && whole {
			switch n := int64(imm); {
			case x.Op == x86asm.ADD:
				in.add(set, dst, dst, n)
			case x.Op == x86asm.SUB:
				in.add(set, dst, dst, -n)
			case n < 0 && n >= -4096:
				in.add(align, dst, none, n)
			default:
				in.add(lose, dst, none, 0)
			}
			return in.ops
		}
		if src, ok := x86Reg(x.Args[1]); ok && whole && x.Op == x86asm.SUB {
			in.add(minus, dst, src, 0)
			return in.ops
		}
		if from, ok := x.Args[1].(x86asm.Mem); ok && whole && x.Op == x86asm.SUB && from.Index == 0 && !fs && x86Regs[from.Base] != 0 {
			// r - [m]: the word is followed through a place that is no register.
			in.add(load, scratch, x86Regs[from.Base], from.Disp)
			in.add(minus, dst, scratch, 0)
			return in.ops
		}
	case x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG:
		if src, ok := x86Reg(x.Args[1]); ok {
			in.add(lose, src, none, 0)
		}
		in.add(lose, amd64.RAX, none, 0)
	case x86asm.CPUID, x86asm.SYSCALL, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.IMUL, x86asm.RDTSC, x86asm.XGETBV, x86asm.CDQ, x86asm.CQO:
		for _, r := range []trad.Reg{amd64.RAX, amd64.RDX} {
			in.add(lose, r, none, 0)
		}
		if x.Op == x86asm.CPUID {
			in.add(lose, amd64.RBX, none, 0)
		}
		if x.Op == x86asm.CPUID || x.Op == x86asm.SYSCALL {
			in.add(lose, amd64.RCX, none, 0)
			in.add(lose, amd64.R11, none, 0)
		}
	case x86asm.MOVSB, x86asm.MOVSD, x86asm.MOVSQ, x86asm.MOVSW, x86asm.STOSB, x86asm.STOSQ, x86asm.STOSD, x86asm.STOSW:
		for _, r := range []trad.Reg{amd64.RSI, amd64.RDI, amd64.RCX} {
			in.add(lose, r, none, 0)
		}
		return in.ops
	}
	if isReg {
		in.add(lose, dst, none, 0)
	}
	if base, known := x86Regs[mem.Base]; isMem && mem.Index == 0 && !fs && known {
		src, ok := x86Reg(x.Args[1])
		if !ok || x.Op != x86asm.MOV || x.MemBytes != 8 {
			src = none
		}
		in.add(store, base, src, mem.Disp)
		if x.MemBytes > 8 {
			in.add(store, base, none, mem.Disp+8)
		}
	}
	return in.ops
}

// scratch is a place for a value that is in no register.
const scratch trad.Reg = amd64.RIP + 1

// x86From is an instruction that reads memory, or takes its address.
func x86From(addr bool, dst trad.Reg, m x86asm.Mem, fs bool, next uint64) []op {
	var in instruction
	base, known := x86Regs[m.Base]
	absolute := m.Base == 0 && m.Index == 0
	disp := m.Disp
	if absolute {
		disp = int64(int32(disp))
	}
	switch {
	case fs && absolute && !addr:
		in.add(own, dst, none, disp)
	case fs && known && m.Index == 0 && !addr:
		in.add(own, dst, base, disp)
	case fs || m.Index != 0:
		in.add(lose, dst, none, 0)
	case m.Base == x86asm.RIP && addr:
		in.add(setAt, dst, none, int64(next)+disp)
	case m.Base == x86asm.RIP:
		in.add(fetch, dst, none, int64(next)+disp)
	case !known:
		in.add(lose, dst, none, 0)
	case addr:
		in.add(set, dst, base, disp)
	default:
		in.add(load, dst, base, disp)
	}
	return in.ops
}

// x86Reg returns the register that an operand is, or is a part of.
func x86Reg(a x86asm.Arg) (r trad.Reg, ok bool) {
	x, isReg := a.(x86asm.Reg)
	if !isReg {
		return none, false
	}
	if r, ok = x86Regs[x]; ok {
		return r, true
	}
	r, ok = x86Parts[x]
	return r, ok
}
