package amd64

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// The registers that instructions use without naming them.
const (
	rax = values.Reg(RAX)
	rbp = values.Reg(RBP)
	rsp = values.Reg(RSP)
)

// An inst is an instruction that is being decoded.
type inst struct {
	values.Inst
	ops []values.Op
}

// do appends micro-operations in place of what the instruction kills.
func (in *inst) do(ops ...values.Op) {
	in.ops, in.Kill = append(in.ops, ops...), 0
}

// decode implements values.Machine.Decode.
func decode(code []byte, at int, ops []values.Op) (values.Inst, []values.Op) {
	p := code[at:min(len(code), at+maxLen)]
	in := inst{values.Inst{By: values.None, Target: values.NoTarget}, ops}
	if !in.known(p) {
		x, err := x86asm.Decode(p, 64)
		if err != nil || x.Op == 0 || x.Len <= 0 || x.Len > len(p) {
			in.unknown(p)
		} else {
			in.Len, in.Kill = uint8(x.Len), killed(&x)
			in.decode(&x, p, at, len(code))
		}
	}
	return in.Inst, in.ops
}

// decode takes in the instruction x, which p begins with, at an offset of code of n bytes.
func (in *inst) decode(x *x86asm.Inst, p []byte, at, n int) {
	switch x.Op {
	case x86asm.NOP, x86asm.PAUSE:
		in.Nop, in.Kill = true, 0
	case x86asm.PUSH, x86asm.PUSHFQ:
		in.push(x)
	case x86asm.POP, x86asm.POPFQ:
		in.pop(x)
	case x86asm.PUSHF, x86asm.POPF:
		in.Kill = rsp.Bit()
	case x86asm.LEAVE:
		in.do(values.Move(rsp, rbp), values.LoadWord(rbp, rsp, 0), values.Add(rsp, rsp, 8))
	case x86asm.ENTER:
		if n, ok := x.Args[0].(x86asm.Imm); ok && x.Args[1] == x86asm.Imm(0) {
			in.do(values.StoreTo(rsp, -8, 8, rbp), values.Add(rsp, rsp, -8), values.Move(rbp, rsp), values.Add(rsp, rsp, -int32(n&0xffff)))
		} else {
			in.Kill = rsp.Bit() | rbp.Bit()
		}
	case x86asm.MOV:
		in.move(x, p)
	case x86asm.LEA:
		if r, a := wideArg(x, 0), address(x, 1); r != values.None && a.ok && a.index == values.None {
			in.do(values.Add(r, a.base, a.disp))
		}
	case x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.XCHG, x86asm.CMP:
		in.arithmetic(x)
	case x86asm.XOR:
		if len(p) > 1 && x.Len == 2 && p[0] == 0x31 && p[1] == 0xc0 { // xor eax,eax
			in.ops = append(in.ops, values.Const(rax, 0))
		}
	case x86asm.RET, x86asm.LRET, x86asm.IRETQ, x86asm.IRETD, x86asm.IRET, x86asm.SYSRET, x86asm.SYSEXIT:
		in.Flow, in.Return, in.By = values.To, true, values.Reg(RIP)
	case x86asm.HLT, x86asm.UD1, x86asm.UD2, x86asm.INT:
		if x.Op != x86asm.INT || x.Args[0] == x86asm.Imm(3) {
			in.Flow = values.Stop
		}
	default:
		in.branch(x, at, n)
	}
}

func (in *inst) push(x *x86asm.Inst) {
	src, a := values.None, operand{}
	if x.Op == x86asm.PUSH {
		src, a = wideArg(x, 0), address(x, 0)
	}
	if x.Op == x86asm.PUSH && x.DataSize == 16 {
		in.Kill = rsp.Bit()
		return
	}
	in.Kill = 0
	if a.ok {
		src = values.Temp
		in.do(a.load(src))
	}
	in.do(values.StoreTo(rsp, -8, 8, src), values.Add(rsp, rsp, -8))
}

func (in *inst) pop(x *x86asm.Inst) {
	dst := values.None
	if x.Op == x86asm.POP {
		dst = wideArg(x, 0)
	}
	if x.Op == x86asm.POP && x.DataSize == 16 {
		in.Kill = rsp.Bit() | dst.Bit()
		return
	}
	if x.Op == x86asm.POP {
		in.Kill = 0
	}
	if in.ops = append(in.ops, values.LoadWord(dst, rsp, 0)); dst != rsp {
		in.ops = append(in.ops, values.Add(rsp, rsp, 8))
	}
}

// move takes in the mov that p begins with.
func (in *inst) move(x *x86asm.Inst, p []byte) {
	r, ok := x.Args[0].(x86asm.Reg)
	if !ok {
		if a := address(x, 0); a.ok && a.onBase() {
			in.ops = append(in.ops, values.StoreTo(a.base, a.disp, uint16(min(x.MemBytes, 255)), wideArg(x, 1)))
		}
		return
	}
	switch a := x.Args[1].(type) {
	case x86asm.Imm:
		// A 32-bit move clears the upper half.
		full := wide(r) != values.None || r >= x86asm.EAX && r <= x86asm.R15L && a >= 0
		switch {
		case full && int64(a) >= math.MinInt32 && int64(a) <= math.MaxInt32:
			in.do(values.Const(number(r), int32(a)))
		case x.Len == 2 && p[0] == 0xb0: // mov al,n: how small code makes the number of a system call
			in.do(values.Op{Kind: values.Insert, Dst: rax, Width: 8, Imm: int32(p[1])})
		}
	case x86asm.Reg:
		if wide(r) != values.None && wide(a) != values.None {
			in.do(values.Move(wide(r), wide(a)))
		}
	case x86asm.Mem:
		if from := address(x, 1); from.ok && wide(r) != values.None {
			in.do(from.load(wide(r)))
		}
	}
}

func (in *inst) arithmetic(x *x86asm.Inst) {
	if _, ok := x.Args[0].(x86asm.Mem); ok {
		if a := address(x, 0); a.ok && a.onBase() && x.Op != x86asm.CMP {
			in.ops = append(in.ops, values.StoreTo(a.base, a.disp, uint16(min(x.MemBytes, 255)), values.None))
		}
		return
	}
	dst, src := wideArg(x, 0), wideArg(x, 1)
	if dst == values.None {
		return
	}
	imm, isImm := x.Args[1].(x86asm.Imm)
	isImm = isImm && int64(imm) > math.MinInt32 && int64(imm) <= math.MaxInt32
	n, isReg := int32(imm), src != values.None
	switch x.Op {
	case x86asm.CMP:
		if isReg {
			in.ops = append(in.ops, values.Op{Kind: values.Compare, Dst: dst, Src: src})
		}
	case x86asm.ADD:
		if isImm {
			in.do(values.Add(dst, dst, n))
		} else if isReg {
			in.do(values.Op{Kind: values.Sum, Dst: dst, Base: dst, Index: src})
		}
	case x86asm.SUB:
		switch a := address(x, 1); {
		case isImm:
			in.do(values.Add(dst, dst, -n))
		case isReg:
			in.do(values.Op{Kind: values.Minus, Dst: dst, Base: dst, Index: src})
		case a.ok:
			in.do(a.load(values.Temp), values.Op{Kind: values.Minus, Dst: dst, Base: dst, Index: values.Temp})
		}
	case x86asm.XCHG:
		if isReg {
			in.do(values.Move(values.Temp, dst), values.Move(dst, src), values.Move(src, values.Temp))
		}
	case x86asm.AND:
		if isImm && n < 0 && -n&(-n-1) == 0 {
			in.do(values.Op{Kind: values.Round, Dst: dst, Base: dst, Index: values.None, Imm: n})
		}
	}
}

// branch takes in a branch, at an offset of code of n bytes.
func (in *inst) branch(x *x86asm.Inst, at, n int) {
	rel, direct := x.Args[0].(x86asm.Rel)
	next := at + x.Len
	if direct {
		in.Target = int64(next) + int64(rel)
	}
	switch {
	case x.Op == x86asm.CALL && direct && rel == 0 && next < n: // pushes an address, no more
		in.do(values.StoreTo(rsp, -8, 8, values.None), values.Add(rsp, rsp, -8))
	case x.Op == x86asm.CALL || x.Op == x86asm.LCALL:
		in.Flow, in.Kill = values.Call, 0
	case x.Op == x86asm.JMP && direct:
		in.Flow = values.Jump
	case x.Op == x86asm.JMP || x.Op == x86asm.LJMP:
		in.Flow, in.By = values.Away, wideArg(x, 0)
	case x.Op == x86asm.JNE && direct:
		in.Flow = values.BranchNE
	case direct:
		in.Flow = values.Branch
	}
}

// killed returns the registers that an instruction writes, by argument and by
// nature. It may return too many.
func killed(in *x86asm.Inst) (kill values.Set) {
	switch in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.JMP, x86asm.CALL, x86asm.NOP:
		return 0
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CWD, x86asm.CDQ, x86asm.CQO, x86asm.RDTSC, x86asm.RDPMC, x86asm.RDMSR, x86asm.XGETBV:
		kill = 1<<RAX | 1<<RDX
	case x86asm.IMUL:
		if in.Args[1] == nil {
			kill = 1<<RAX | 1<<RDX
		}
	case x86asm.CPUID:
		kill = 1<<RAX | 1<<RBX | 1<<RCX | 1<<RDX
	case x86asm.RDTSCP:
		kill = 1<<RAX | 1<<RCX | 1<<RDX
	case x86asm.SYSCALL:
		kill = 1<<RAX | 1<<RCX | 1<<R11
	case x86asm.CMPXCHG, x86asm.CBW, x86asm.CWDE, x86asm.CDQE, x86asm.LAHF, x86asm.XLATB, x86asm.INT:
		kill = 1 << RAX
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		return 1<<RAX | 1<<RDX
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ,
		x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ,
		x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ,
		x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		kill = 1<<RAX | 1<<RCX | 1<<RSI | 1<<RDI
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.PCMPESTRI, x86asm.PCMPISTRI, x86asm.VPCMPESTRI, x86asm.VPCMPISTRI:
		kill = 1 << RCX
	case x86asm.INSB, x86asm.INSW, x86asm.INSD, x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD:
		kill = 1<<RCX | 1<<RSI | 1<<RDI
	case x86asm.XBEGIN:
		kill = 1 << RAX
	}
	// The second argument is written by exchanges and by mulx.
	for _, a := range in.Args[:2] {
		if r, ok := a.(x86asm.Reg); ok {
			kill |= number(r).Bit()
		}
		switch in.Op {
		case x86asm.XCHG, x86asm.XADD, x86asm.MULX:
			continue
		}
		break
	}
	return kill
}

// dwarfNumber maps the processor's register numbers to DWARF's.
var dwarfNumber = [16]trad.Reg{RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15}

// number returns the general register that r is, or is a part of.
func number(r x86asm.Reg) values.Reg {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		r -= x86asm.RAX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		r -= x86asm.EAX
	case r >= x86asm.AX && r <= x86asm.R15W:
		r -= x86asm.AX
	case r >= x86asm.AL && r <= x86asm.BL:
		r -= x86asm.AL
	case r >= x86asm.AH && r <= x86asm.R15B: // ah, ch, dh, bh, then spl
		r -= x86asm.AH
	default:
		return values.None
	}
	return values.Reg(dwarfNumber[r])
}

// wide returns the general register that r is in its full width, or None.
func wide(r x86asm.Reg) values.Reg {
	if r >= x86asm.RAX && r <= x86asm.R15 {
		return number(r)
	}
	return values.None
}

func wideArg(x *x86asm.Inst, i int) values.Reg {
	if r, ok := x.Args[i].(x86asm.Reg); ok {
		return wide(r)
	}
	return values.None
}

// An operand is one in memory, at the sum of a base register, an index and a displacement.
type operand struct {
	base, index values.Reg // the index is None, or values.Thread
	disp        int32
	ok          bool // the address can be followed
}

// address returns the operand that argument i of an instruction is.
func address(x *x86asm.Inst, i int) operand {
	m, ok := x.Args[i].(x86asm.Mem)
	if !ok || m.Index != 0 || m.Segment == x86asm.GS || m.Disp < math.MinInt32 || m.Disp > math.MaxUint32 {
		return operand{}
	}
	a := operand{wide(m.Base), values.None, int32(uint32(m.Disp)), true} // x86asm leaves some without a sign
	switch {
	case m.Segment == x86asm.FS && m.Base == 0:
		a.base = values.Thread
	case m.Segment == x86asm.FS:
		a.index = values.Thread
	case m.Base == x86asm.RIP:
		a.base, a.disp = values.PC, a.disp+int32(x.Len)
	}
	a.ok = a.base != values.None
	return a
}

// onBase reports whether nothing but a general register and a number make the address.
func (a operand) onBase() bool { return a.index == values.None && a.base < nRegs }

// load returns dst = the word at the operand's address.
func (a operand) load(dst values.Reg) values.Op {
	op := values.LoadWord(dst, a.base, a.disp)
	op.Index = a.index
	return op
}
