package x86

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// An inst is an instruction that is being decoded.
type inst struct {
	*Decoder
	dataflow.Inst
	ops []dataflow.Op
}

func (in *inst) ax() dataflow.Reg { return in.number[numberAX] }
func (in *inst) bp() dataflow.Reg { return in.number[numberBP] }
func (in *inst) sp() dataflow.Reg { return in.number[numberSP] }

// load returns dst = the word at base + off.
func (in *inst) load(dst, base dataflow.Reg, off int32) dataflow.Op {
	return dataflow.LoadFrom(dst, base, off, in.word)
}

// pushed stores src and lowers the stack pointer.
func (in *inst) pushed(src dataflow.Reg) {
	n := -int32(in.word)
	in.do(dataflow.StoreTo(in.sp(), n, in.word, src), dataflow.Add(in.sp(), in.sp(), n))
}

// do appends micro-operations in place of what the instruction kills.
func (in *inst) do(ops ...dataflow.Op) {
	in.ops, in.Kill = append(in.ops, ops...), 0
}

// Decode implements dataflow.Machine.Decode.
func (d *Decoder) Decode(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	p := code[at:min(len(code), at+MaxLen)]
	in := inst{d, dataflow.Inst{By: dataflow.None, Target: dataflow.NoTarget}, ops}
	if !in.known(p) {
		x, err := x86asm.Decode(p, d.mode)
		if err != nil || x.Op == 0 || x.Len <= 0 || x.Len > len(p) {
			in.unknown(p)
		} else {
			in.Len, in.Kill = uint8(x.Len), d.killed(&x)
			in.decode(&x, p, code, at)
		}
	}
	return in.Inst, in.ops
}

// decode takes in the instruction x, which p begins with, at an offset of code.
func (in *inst) decode(x *x86asm.Inst, p, code []byte, at int) {
	switch x.Op {
	case x86asm.NOP, x86asm.PAUSE:
		in.Nop, in.Kill = true, 0
	case x86asm.PUSH, x86asm.PUSHFQ, x86asm.PUSHFD:
		in.push(x)
	case x86asm.POP, x86asm.POPFQ, x86asm.POPFD:
		in.pop(x)
	case x86asm.PUSHF, x86asm.POPF, x86asm.PUSHA, x86asm.POPA:
		in.Kill |= in.sp().Bit()
	case x86asm.PUSHAD, x86asm.POPAD:
		in.all(x.Op == x86asm.PUSHAD)
	case x86asm.LEAVE:
		in.do(dataflow.Move(in.sp(), in.bp()), in.load(in.bp(), in.sp(), 0), dataflow.Add(in.sp(), in.sp(), int32(in.word)))
	case x86asm.ENTER:
		if n, ok := x.Args[0].(x86asm.Imm); ok && x.Args[1] == x86asm.Imm(0) {
			in.pushed(in.bp())
			in.do(dataflow.Move(in.bp(), in.sp()), dataflow.Add(in.sp(), in.sp(), -int32(n&0xffff)))
		} else {
			in.Kill = in.sp().Bit() | in.bp().Bit()
		}
	case x86asm.MOV:
		in.move(x, p)
	case x86asm.LEA:
		if r, a := in.wideArg(x, 0), in.address(x, 1); r != dataflow.None && a.ok && a.index == dataflow.None {
			if a.base == r && a.disp == 0 { // 32-bit code is padded with such
				in.Nop, in.Kill = true, 0
				return
			}
			in.do(dataflow.Add(r, a.base, a.disp))
		}
	case x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.XCHG, x86asm.CMP, x86asm.INC, x86asm.DEC:
		in.arithmetic(x)
	case x86asm.XOR:
		if len(p) > 1 && x.Len == 2 && p[0] == 0x31 && p[1] == 0xc0 { // xor eax,eax
			in.ops = append(in.ops, dataflow.Const(in.ax(), 0))
		}
	case x86asm.RET, x86asm.LRET, x86asm.IRETQ, x86asm.IRETD, x86asm.IRET, x86asm.SYSRET, x86asm.SYSEXIT:
		if x.Op == x86asm.RET && in.ReturnReplaced(code[:at]) {
			in.Flow = dataflow.Away
			in.do(dataflow.Add(in.sp(), in.sp(), int32(in.word)))
			return
		}
		in.Flow, in.Return, in.By = dataflow.To, true, in.ip
	case x86asm.HLT, x86asm.UD1, x86asm.UD2, x86asm.INT:
		if x.Op != x86asm.INT || x.Args[0] == x86asm.Imm(3) {
			in.Flow = dataflow.Stop
		}
	default:
		in.branch(x, code, at)
	}
}

func (in *inst) push(x *x86asm.Inst) {
	src, a := dataflow.None, operand{}
	if x.Op == x86asm.PUSH {
		src, a = in.wideArg(x, 0), in.address(x, 0)
	}
	if x.Op == x86asm.PUSH && x.DataSize == 16 {
		in.Kill = in.sp().Bit()
		return
	}
	in.Kill = 0
	if a.ok {
		src = dataflow.Temp
		in.do(in.loadOperand(src, a))
	}
	in.pushed(src)
}

func (in *inst) pop(x *x86asm.Inst) {
	dst, sp := dataflow.None, in.sp()
	if x.Op == x86asm.POP {
		dst = in.wideArg(x, 0)
	}
	if x.Op == x86asm.POP && x.DataSize == 16 {
		in.Kill = sp.Bit() | dst.Bit()
		return
	}
	if x.Op == x86asm.POP {
		in.Kill = 0
	}
	if in.ops = append(in.ops, in.load(dst, sp, 0)); dst != sp {
		in.ops = append(in.ops, dataflow.Add(sp, sp, int32(in.word)))
	}
}

// all takes in the push of all general registers, or the pop, which leaves out the stack pointer.
func (in *inst) all(push bool) {
	const eight = 8
	sp := in.sp()
	in.Kill = 0
	for i := range int32(eight) {
		switch r, at := in.number[i], (eight-1-i)*int32(in.word); {
		case push:
			in.do(dataflow.StoreTo(sp, at-eight*int32(in.word), in.word, r))
		case r != sp:
			in.do(in.load(r, sp, at))
		}
	}
	n := eight * int32(in.word)
	if push {
		n = -n
	}
	in.do(dataflow.Add(sp, sp, n))
}

// move takes in the mov that p begins with.
func (in *inst) move(x *x86asm.Inst, p []byte) {
	r, ok := x.Args[0].(x86asm.Reg)
	if !ok {
		if a := in.address(x, 0); a.ok && a.onBase() {
			in.ops = append(in.ops, dataflow.StoreTo(a.base, a.disp, uint16(min(x.MemBytes, 255)), in.wideArg(x, 1)))
		}
		return
	}
	switch a := x.Args[1].(type) {
	case x86asm.Imm:
		// A 32-bit move clears the upper half.
		full := in.wide(r) != dataflow.None || r >= x86asm.EAX && r <= x86asm.R15L && a >= 0
		switch {
		case full && int64(a) >= math.MinInt32 && int64(a) <= math.MaxInt32:
			in.do(dataflow.Const(in.general(r), int32(a)))
		case x.Len == 2 && p[0] == 0xb0: // mov al,n: how small code makes the number of a system call
			in.do(dataflow.Op{Kind: dataflow.Insert, Dst: in.ax(), Width: 8, Imm: int32(p[1])})
		}
	case x86asm.Reg:
		if r == a && in.wide(r) != dataflow.None {
			in.Nop, in.Kill = true, 0
		} else if in.wide(r) != dataflow.None && in.wide(a) != dataflow.None {
			in.do(dataflow.Move(in.wide(r), in.wide(a)))
		}
	case x86asm.Mem:
		if from := in.address(x, 1); from.ok && in.wide(r) != dataflow.None {
			in.do(in.loadOperand(in.wide(r), from))
		}
	}
}

func (in *inst) arithmetic(x *x86asm.Inst) {
	if _, ok := x.Args[0].(x86asm.Mem); ok {
		if a := in.address(x, 0); a.ok && a.onBase() && x.Op != x86asm.CMP {
			in.ops = append(in.ops, dataflow.StoreTo(a.base, a.disp, uint16(min(x.MemBytes, 255)), dataflow.None))
		}
		return
	}
	dst, src := in.wideArg(x, 0), in.wideArg(x, 1)
	if dst == dataflow.None {
		return
	}
	imm, isImm := x.Args[1].(x86asm.Imm)
	isImm = isImm && int64(imm) > math.MinInt32 && int64(imm) <= math.MaxInt32
	n, isReg := int32(imm), src != dataflow.None
	switch x.Op {
	case x86asm.INC:
		in.do(dataflow.Add(dst, dst, 1))
	case x86asm.DEC:
		in.do(dataflow.Add(dst, dst, -1))
	case x86asm.CMP:
		if isReg {
			in.ops = append(in.ops, dataflow.Op{Kind: dataflow.Compare, Dst: dst, Src: src})
		}
	case x86asm.ADD:
		if isImm {
			in.do(dataflow.Add(dst, dst, n))
		} else if isReg {
			in.do(dataflow.Op{Kind: dataflow.Sum, Dst: dst, Base: dst, Index: src})
		}
	case x86asm.SUB:
		switch a := in.address(x, 1); {
		case isImm:
			in.do(dataflow.Add(dst, dst, -n))
		case isReg:
			in.do(dataflow.Op{Kind: dataflow.Minus, Dst: dst, Base: dst, Index: src})
		case a.ok:
			in.do(in.loadOperand(dataflow.Temp, a), dataflow.Op{Kind: dataflow.Minus, Dst: dst, Base: dst, Index: dataflow.Temp})
		}
	case x86asm.XCHG:
		if isReg {
			in.do(dataflow.Move(dataflow.Temp, dst), dataflow.Move(dst, src), dataflow.Move(src, dataflow.Temp))
		}
	case x86asm.AND:
		if isImm && n < 0 && -n&(-n-1) == 0 {
			in.do(dataflow.Op{Kind: dataflow.Round, Dst: dst, Base: dst, Index: dataflow.None, Imm: n})
		}
	}
}

// branch takes in a branch, at an offset of code.
func (in *inst) branch(x *x86asm.Inst, code []byte, at int) {
	rel, direct := x.Args[0].(x86asm.Rel)
	next := at + x.Len
	if in.entersKernel(x) {
		in.Kill = in.ax().Bit()
		return
	}
	if direct {
		in.Target = int64(next) + int64(rel)
	}
	switch {
	case x.Op == x86asm.CALL && direct && rel == 0 && next < len(code): // pushes an address, no more
		in.pushed(dataflow.None)
	case x.Op == x86asm.CALL && direct && in.dropsReturn(code, in.Target):
		in.pushed(dataflow.None)
		in.Flow = dataflow.Jump
	case x.Op == x86asm.CALL || x.Op == x86asm.LCALL:
		in.Flow, in.Kill = dataflow.Call, 0
	case x.Op == x86asm.JMP && direct:
		in.Flow = dataflow.Jump
	case x.Op == x86asm.JMP || x.Op == x86asm.LJMP:
		in.Flow, in.By = dataflow.Away, in.wideArg(x, 0)
	case x.Op == x86asm.JNE && direct:
		in.Flow = dataflow.BranchNE
	case direct:
		in.Flow = dataflow.Branch
	}
}

// entersKernel reports whether an instruction is call *%gs:0x10, by which 32-bit programs enter the
// kernel: the vDSO's code there preserves all registers but the one that holds the result.
func (in *inst) entersKernel(x *x86asm.Inst) bool {
	m, ok := x.Args[0].(x86asm.Mem)
	return ok && in.mode == 32 && x.Op == x86asm.CALL && m.Segment == x86asm.GS && m.Base == 0 && m.Index == 0 && m.Disp == 0x10
}

// killed returns the registers that an instruction writes, by argument and by
// nature. It may return too many.
func (d *Decoder) killed(in *x86asm.Inst) (kill dataflow.Set) {
	ax, cx, dx := d.number[numberAX].Bit(), d.number[numberCX].Bit(), d.number[numberDX].Bit()
	si, di := d.number[numberSI].Bit(), d.number[numberDI].Bit()
	switch in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.JMP, x86asm.CALL, x86asm.NOP:
		return 0
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CWD, x86asm.CDQ, x86asm.CQO, x86asm.RDTSC, x86asm.RDPMC, x86asm.RDMSR, x86asm.XGETBV:
		kill = ax | dx
	case x86asm.IMUL:
		if in.Args[1] == nil {
			kill = ax | dx
		}
	case x86asm.CPUID:
		kill = ax | cx | dx | d.number[numberBX].Bit()
	case x86asm.RDTSCP:
		kill = ax | cx | dx
	case x86asm.SYSCALL:
		kill = ax | cx | d.number[number11].Bit()
	case x86asm.SYSENTER: // the kernel takes ebp from the stack, where the vDSO has pushed it
		kill = ax | cx | dx | d.number[numberBP].Bit()
	case x86asm.CMPXCHG, x86asm.CBW, x86asm.CWDE, x86asm.CDQE, x86asm.LAHF, x86asm.XLATB, x86asm.INT,
		x86asm.DAA, x86asm.DAS, x86asm.AAA, x86asm.AAS, x86asm.AAM, x86asm.AAD:
		kill = ax
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		return ax | dx
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		kill = cx | si | di
	case x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ:
		kill = cx | di
	case x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ:
		kill = ax | cx | si
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.PCMPESTRI, x86asm.PCMPISTRI, x86asm.VPCMPESTRI, x86asm.VPCMPISTRI:
		kill = cx
	case x86asm.INSB, x86asm.INSW, x86asm.INSD, x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD:
		kill = cx | si | di
	case x86asm.XBEGIN:
		kill = ax
	}
	// The second argument is written by exchanges and by mulx.
	for _, a := range in.Args[:2] {
		if r, ok := a.(x86asm.Reg); ok {
			kill |= d.general(r).Bit()
		}
		switch in.Op {
		case x86asm.XCHG, x86asm.XADD, x86asm.MULX:
			continue
		}
		break
	}
	return kill
}

// general returns the general register that r is, or is a part of.
func (d *Decoder) general(r x86asm.Reg) dataflow.Reg {
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
		return dataflow.None
	}
	return d.number[byte(r)&d.mask]
}

// wide returns the general register that r is in its full width, or None.
func (d *Decoder) wide(r x86asm.Reg) dataflow.Reg {
	if r >= d.first && r <= d.first+x86asm.Reg(d.mask) {
		return d.general(r)
	}
	return dataflow.None
}

func (d *Decoder) wideArg(x *x86asm.Inst, i int) dataflow.Reg {
	if r, ok := x.Args[i].(x86asm.Reg); ok {
		return d.wide(r)
	}
	return dataflow.None
}

// An operand is one in memory, at the sum of a base register, an index and a displacement.
type operand struct {
	base, index dataflow.Reg // the index is None, or dataflow.Thread
	disp        int32
	ok          bool // the address can be followed
}

// address returns the operand that argument i of an instruction is.
func (d *Decoder) address(x *x86asm.Inst, i int) operand {
	m, ok := x.Args[i].(x86asm.Mem)
	other := m.Segment == x86asm.FS || m.Segment == x86asm.GS
	if !ok || m.Index != 0 || other && m.Segment != d.thread || m.Disp < math.MinInt32 || m.Disp > math.MaxUint32 {
		return operand{}
	}
	a := operand{d.wide(m.Base), dataflow.None, int32(uint32(m.Disp)), true} // x86asm leaves some without a sign
	switch {
	case other && m.Base == 0:
		a.base = dataflow.Thread
	case other:
		a.index = dataflow.Thread
	case m.Base == x86asm.RIP:
		a.base, a.disp = dataflow.PC, a.disp+int32(x.Len)
	}
	a.ok = a.base != dataflow.None
	return a
}

// onBase reports whether nothing but a general register and a number make the address.
func (a operand) onBase() bool { return a.index == dataflow.None && a.base < dataflow.MaxRegs }

// loadOperand returns dst = the word at an operand's address.
func (in *inst) loadOperand(dst dataflow.Reg, a operand) dataflow.Op {
	op := in.load(dst, a.base, a.disp)
	op.Index = a.index
	return op
}
