package amd64

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/trad"
)

// An opKind is what an instruction does, as far as frames are concerned.
type opKind uint8

const (
	opOther    opKind = iota // writes the registers in kill
	opPush                   // src (where noReg: base+imm in memory)
	opPop                    // dst, noReg where the value is dropped
	opMove                   // dst = src
	opConst                  // dst = imm
	opLea                    // dst = base+imm
	opLoad                   // dst = 8 bytes at base+imm
	opStore                  // width bytes at base+imm = src
	opAdd                    // dst += imm
	opAddReg                 // dst += src
	opSubReg                 // dst -= src
	opSwap                   // dst, src = src, dst
	opAlign                  // dst &= -2^n
	opLeave                  // rsp = rbp; pop rbp
	opEnter                  // push rbp; rbp = rsp; rsp -= imm
	opCompare                // dst with src
	opCall                   // and comes back
	opCallNext               // to the next instruction: pushes an address, no more
	opJump                   // to target
	opBranch                 // to target or on
	opBranchNE               // to target unless the last comparison was of equals
	opJumpAway               // through a register or memory
	opReturn                 //
	opStop                   // traps
	opBad                    // cannot be decoded
)

// noReg stands for "no register that is followed".
const noReg trad.Reg = 0xffff

// noTarget is the target of what is no direct branch.
const noTarget = math.MinInt64

// An op is one instruction.
type op struct {
	kind     opKind
	len      uint8
	width    uint8 // bytes written by opStore
	nop      bool
	dst, src trad.Reg
	base     trad.Reg // of the address; noReg where the address is not followed
	imm      int32
	target   int64  // offset into the code, if it is in there
	kill     uint32 // registers that get a value which is not followed, by DWARF number
}

// decode decodes the instruction at code[at:].
func decode(code []byte, at int) op {
	p := code[at:min(len(code), at+15)]
	o := op{dst: noReg, src: noReg, base: noReg, target: noTarget}
	if knownOp(p, &o) {
		return o
	}
	in, err := x86asm.Decode(p, 64)
	if err != nil || in.Op == 0 || in.Len <= 0 || in.Len > len(p) {
		return unknownOp(p, o)
	}
	o.len = uint8(in.Len)
	o.kill = killed(&in)
	switch in.Op {
	case x86asm.NOP, x86asm.PAUSE:
		o.nop, o.kill = true, 0
	case x86asm.PUSH:
		decodePush(&in, &o)
	case x86asm.PUSHFQ:
		o.kind = opPush
	case x86asm.POP:
		o.kind, o.kill = opPop, 0
		if r, ok := in.Args[0].(x86asm.Reg); ok {
			o.dst = wide(r)
		}
		if in.DataSize == 16 {
			o.kind, o.kill = opOther, bit(RSP)|bit(o.dst)
		}
	case x86asm.POPFQ:
		o.kind = opPop
	case x86asm.PUSHF, x86asm.POPF:
		o.kill = bit(RSP)
	case x86asm.LEAVE:
		o.kind = opLeave
	case x86asm.ENTER:
		if n, ok := in.Args[0].(x86asm.Imm); ok && in.Args[1] == x86asm.Imm(0) {
			o.kind, o.imm, o.kill = opEnter, int32(n&0xffff), 0
		} else {
			o.kill = bit(RSP) | bit(RBP)
		}
	case x86asm.MOV:
		decodeMove(&in, &o)
	case x86asm.LEA:
		if r := wideArg(&in, 0); r != noReg {
			if base, disp, ok := address(in.Args[1]); ok {
				o.kind, o.dst, o.base, o.imm, o.kill = opLea, r, base, disp, 0
			}
		}
	case x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.XCHG, x86asm.CMP:
		decodeArithmetic(&in, &o)
	case x86asm.RET, x86asm.LRET, x86asm.IRETQ, x86asm.IRETD, x86asm.IRET, x86asm.SYSRET, x86asm.SYSEXIT:
		o.kind = opReturn
	case x86asm.HLT, x86asm.UD1, x86asm.UD2, x86asm.INT:
		if in.Op != x86asm.INT || in.Args[0] == x86asm.Imm(3) {
			o.kind = opStop
		}
	default:
		decodeBranch(&in, &o, at)
	}
	return o
}

func decodePush(in *x86asm.Inst, o *op) {
	o.kind, o.kill = opPush, 0
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		o.src = wide(a)
	case x86asm.Mem:
		o.base, o.imm, _ = address(a)
	}
	if in.DataSize == 16 {
		o.kind, o.kill = opOther, bit(RSP)
	}
}

func decodeMove(in *x86asm.Inst, o *op) {
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		if base, disp, ok := address(m); ok {
			o.kind, o.base, o.imm, o.src = opStore, base, disp, wideArg(in, 1)
			o.width = uint8(min(in.MemBytes, 255))
		}
		return
	}
	r, ok := in.Args[0].(x86asm.Reg)
	if !ok {
		return
	}
	switch a := in.Args[1].(type) {
	case x86asm.Imm:
		// A 32-bit move clears the upper half.
		full := wide(r) != noReg || r >= x86asm.EAX && r <= x86asm.R15L && a >= 0
		if full && int64(a) >= math.MinInt32 && int64(a) <= math.MaxInt32 {
			o.kind, o.dst, o.imm, o.kill = opConst, number(r), int32(a), 0
		}
	case x86asm.Reg:
		if wide(r) != noReg && wide(a) != noReg {
			o.kind, o.dst, o.src, o.kill = opMove, wide(r), wide(a), 0
		}
	case x86asm.Mem:
		if base, disp, ok := address(a); ok && wide(r) != noReg {
			o.kind, o.dst, o.base, o.imm, o.kill = opLoad, wide(r), base, disp, 0
		}
	}
}

func decodeArithmetic(in *x86asm.Inst, o *op) {
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		if base, disp, ok := address(m); ok && in.Op != x86asm.CMP {
			o.kind, o.base, o.imm, o.width = opStore, base, disp, uint8(min(in.MemBytes, 255))
		}
		return
	}
	dst, src := wideArg(in, 0), wideArg(in, 1)
	if dst == noReg {
		return
	}
	imm, isImm := in.Args[1].(x86asm.Imm)
	isImm = isImm && int64(imm) > math.MinInt32 && int64(imm) <= math.MaxInt32
	o.dst, o.src = dst, src
	switch {
	case in.Op == x86asm.CMP && src != noReg:
		o.kind = opCompare
	case in.Op == x86asm.ADD && isImm:
		o.kind, o.imm, o.kill = opAdd, int32(imm), 0
	case in.Op == x86asm.SUB && isImm:
		o.kind, o.imm, o.kill = opAdd, -int32(imm), 0
	case in.Op == x86asm.ADD && src != noReg:
		o.kind, o.kill = opAddReg, 0
	case in.Op == x86asm.SUB && src != noReg:
		o.kind, o.kill = opSubReg, 0
	case in.Op == x86asm.XCHG && src != noReg:
		o.kind, o.kill = opSwap, 0
	case in.Op == x86asm.AND && isImm && imm < 0 && -imm&(-imm-1) == 0:
		o.kind, o.kill = opAlign, 0
	}
}

func decodeBranch(in *x86asm.Inst, o *op, at int) {
	rel, direct := in.Args[0].(x86asm.Rel)
	next := at + in.Len
	if direct {
		o.target = int64(next) + int64(rel)
	}
	switch {
	case in.Op == x86asm.CALL && direct && rel == 0:
		o.kind = opCallNext
	case in.Op == x86asm.CALL || in.Op == x86asm.LCALL:
		o.kind, o.kill = opCall, 0
	case in.Op == x86asm.JMP && direct:
		o.kind = opJump
	case in.Op == x86asm.JMP || in.Op == x86asm.LJMP:
		o.kind = opJumpAway
		if r, ok := in.Args[0].(x86asm.Reg); ok {
			o.src = wide(r)
		}
	case in.Op == x86asm.JNE && direct:
		o.kind = opBranchNE
	case direct:
		o.kind = opBranch
	}
}

// killed returns the registers that an instruction writes, by argument and by
// nature. It may return too many.
func killed(in *x86asm.Inst) (kill uint32) {
	switch in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.JMP, x86asm.CALL, x86asm.NOP:
		return 0
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CWD, x86asm.CDQ, x86asm.CQO, x86asm.RDTSC, x86asm.RDPMC, x86asm.RDMSR, x86asm.XGETBV:
		kill = bit(RAX) | bit(RDX)
	case x86asm.IMUL:
		if in.Args[1] == nil {
			kill = bit(RAX) | bit(RDX)
		}
	case x86asm.CPUID:
		kill = bit(RAX) | bit(RBX) | bit(RCX) | bit(RDX)
	case x86asm.RDTSCP:
		kill = bit(RAX) | bit(RCX) | bit(RDX)
	case x86asm.SYSCALL:
		kill = bit(RAX) | bit(RCX) | bit(R11)
	case x86asm.CMPXCHG, x86asm.CBW, x86asm.CWDE, x86asm.CDQE, x86asm.LAHF, x86asm.XLATB, x86asm.INT:
		kill = bit(RAX)
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		return bit(RAX) | bit(RDX)
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ,
		x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ,
		x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ,
		x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		kill = bit(RAX) | bit(RCX) | bit(RSI) | bit(RDI)
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.PCMPESTRI, x86asm.PCMPISTRI, x86asm.VPCMPESTRI, x86asm.VPCMPISTRI:
		kill = bit(RCX)
	case x86asm.INSB, x86asm.INSW, x86asm.INSD, x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD:
		kill = bit(RCX) | bit(RSI) | bit(RDI)
	case x86asm.XBEGIN:
		kill = bit(RAX)
	}
	// The second argument is written by exchanges and by mulx.
	for _, a := range in.Args[:2] {
		if r, ok := a.(x86asm.Reg); ok {
			kill |= bit(number(r))
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
func number(r x86asm.Reg) trad.Reg {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return dwarfNumber[r-x86asm.RAX]
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return dwarfNumber[r-x86asm.EAX]
	case r >= x86asm.AX && r <= x86asm.R15W:
		return dwarfNumber[r-x86asm.AX]
	case r >= x86asm.AL && r <= x86asm.BL:
		return dwarfNumber[r-x86asm.AL]
	case r >= x86asm.AH && r <= x86asm.R15B: // ah, ch, dh, bh, then spl
		return dwarfNumber[r-x86asm.AH]
	}
	return noReg
}

// wide returns the general register that r is in its full width, or noReg.
func wide(r x86asm.Reg) trad.Reg {
	if r >= x86asm.RAX && r <= x86asm.R15 {
		return number(r)
	}
	return noReg
}

func wideArg(in *x86asm.Inst, i int) trad.Reg {
	if r, ok := in.Args[i].(x86asm.Reg); ok {
		return wide(r)
	}
	return noReg
}

// address returns the base and displacement of an operand in memory; ok is
// false where it is not of that simple form or not in the flat address space.
func address(a x86asm.Arg) (base trad.Reg, disp int32, ok bool) {
	m, isMem := a.(x86asm.Mem)
	if !isMem || m.Index != 0 || m.Segment == x86asm.FS || m.Segment == x86asm.GS ||
		m.Disp < math.MinInt32 || m.Disp > math.MaxUint32 {
		return noReg, 0, false
	}
	base = wide(m.Base)
	return base, int32(uint32(m.Disp)), base != noReg // x86asm leaves some without a sign
}

// bit returns the one-register set of r, nothing for noReg.
func bit(r trad.Reg) uint32 {
	if r > R15 {
		return 0
	}
	return 1 << r
}

// harmless reports whether an instruction changes no register that calls
// preserve, stores nothing at a known address, and goes on to the next.
func (o *op) harmless() bool {
	switch o.kind {
	case opOther:
		return o.kill&calleeOK == 0
	case opMove, opConst, opLea, opLoad, opAdd, opAddReg, opSubReg:
		return calleeOK&bit(o.dst) == 0
	case opCompare:
		return true
	}
	return false
}
