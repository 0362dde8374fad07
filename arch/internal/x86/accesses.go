package x86

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// stackSlot is how far from the stack pointer an instruction may push or pop, bytes.
const stackSlot = 8

// Brings implements [arch.SignalFrame].Brings.
func (d *Decoder) Brings(code []byte, pc uint64, register func(trad.Reg) (uint64, bool), f arch.Fault) arch.Verdict {
	if f.Kind == arch.PageFault && f.Addr-pc < MaxLen && (f.Addr == pc || f.Addr-pc >= uint64(len(code))) {
		return arch.Yes // no instruction can be fetched there
	}
	if f.Kind != arch.PageFault && f.Kind != arch.AddressFault {
		return arch.Unknown
	}
	x, err := x86asm.Decode(code[:min(len(code), MaxLen)], d.mode)
	if err != nil || x.Op == 0 || x.Len > len(code) {
		return arch.Unknown
	}
	verdict := arch.No
	if f.Kind == arch.AddressFault || !onlyOperands(x.Op) {
		verdict = arch.Unknown
	}
	hits := func(at uint64, size int) bool {
		if f.Kind == arch.AddressFault {
			return d.mode == 64 && int64(at)>>47 != 0 && int64(at)>>47 != -1 // not canonical
		}
		return f.Addr-at < uint64(size)
	}
	if usesStack(x.Op) {
		if sp, ok := register(trad.Reg(d.number[numberSP])); ok && hits(sp-stackSlot, 2*stackSlot) {
			return arch.Yes
		}
	}
	for i, arg := range x.Args {
		m, ok := arg.(x86asm.Mem)
		if !ok || x.Op == x86asm.LEA || x.Op == x86asm.NOP {
			continue
		}
		at, ok := d.effective(&m, pc+uint64(x.Len), register)
		size := max(x.MemBytes, element(x.Op))
		switch {
		case ok && size > 0 && hits(at, size):
			return arch.Yes
		case !ok || size == 0 || i > 0 && !onlyOperands(x.Op):
			verdict = arch.Unknown
		}
	}
	return verdict
}

// effective returns the address of an operand in memory. next is the address of the next
// instruction.
func (d *Decoder) effective(m *x86asm.Mem, next uint64, register func(trad.Reg) (uint64, bool)) (at uint64, ok bool) {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		return 0, false
	}
	switch {
	case m.Base != 0 || m.Index != 0:
		at = uint64(int64(int32(m.Disp))) // x86asm leaves some without a sign
	case m.Disp < 0 || m.Disp > math.MaxInt32: // with the sign, or without one: x86asm does not tell
		return 0, false
	default:
		at = uint64(m.Disp)
	}
	add := func(r x86asm.Reg, scale uint64) bool {
		if r == 0 {
			return true
		}
		if r == x86asm.RIP {
			at += next
			return true
		}
		n := d.wide(r)
		if n == dataflow.None {
			return false
		}
		v, known := register(trad.Reg(n))
		at += v * scale
		return known
	}
	if !add(m.Base, 1) || !add(m.Index, uint64(m.Scale)) {
		return 0, false
	}
	if d.mode == 32 {
		at = uint64(uint32(at))
	}
	return at, true
}

// element returns how many bytes an instruction for strings touches at a time; 0 of others.
func element(op x86asm.Op) int {
	switch op {
	case x86asm.MOVSB, x86asm.STOSB, x86asm.LODSB, x86asm.SCASB, x86asm.CMPSB:
		return 1
	case x86asm.MOVSW, x86asm.STOSW, x86asm.LODSW, x86asm.SCASW, x86asm.CMPSW:
		return 2
	case x86asm.MOVSD, x86asm.STOSD, x86asm.LODSD, x86asm.SCASD, x86asm.CMPSD:
		return 4
	case x86asm.MOVSQ, x86asm.STOSQ, x86asm.LODSQ, x86asm.SCASQ, x86asm.CMPSQ:
		return 8
	}
	return 0
}

// usesStack reports whether an instruction pushes or pops.
func usesStack(op x86asm.Op) bool {
	switch op {
	case x86asm.PUSH, x86asm.POP, x86asm.CALL, x86asm.RET, x86asm.PUSHF, x86asm.PUSHFQ, x86asm.PUSHFD, x86asm.POPF, x86asm.POPFQ, x86asm.POPFD:
		return true
	}
	return false
}

// onlyOperands reports whether an instruction touches no memory but its operands: the usual ones,
// such as a thread is in that a signal interrupts anywhere.
func onlyOperands(op x86asm.Op) bool {
	switch op {
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.OR, x86asm.XOR,
		x86asm.CMP, x86asm.TEST, x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT, x86asm.IMUL, x86asm.SHL, x86asm.SHR, x86asm.SAR,
		x86asm.LEA, x86asm.NOP, x86asm.PAUSE, x86asm.JMP, x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JNE,
		x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE, x86asm.JS, x86asm.JNS:
		return true
	}
	return false
}
