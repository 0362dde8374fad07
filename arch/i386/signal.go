package i386

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// The kernel's frames (asm/sigframe.h). The handler's return address comes first, which the handler
// has taken when the trampoline begins: SP then points behind it, and pop takes 4 bytes more.
const (
	// struct sigframe_ia32: the signal's number, then struct sigcontext.
	sigframeSigcontext = 4
	// struct rt_sigframe_ia32: the signal's number, two pointers, siginfo of 128 bytes, then
	// ucontext.
	rtSigframeUContext = 12 + 128
	// struct ucontext: uc_flags, uc_link, uc_stack of 12 bytes, then struct sigcontext.
	ucontextSigcontext = 20
	rtSigcontext       = rtSigframeUContext + ucontextSigcontext
)

// Members of struct sigcontext (asm/sigcontext.h). A selector has 2 bytes of 4.
const (
	sigcontextGS    = 0
	sigcontextFS    = 4
	sigcontextES    = 8
	sigcontextDS    = 12
	sigcontextSP    = 28
	sigcontextTrap  = 48
	sigcontextError = 52
	sigcontextIP    = 56
	sigcontextCS    = 60
	sigcontextFlags = 64
	sigcontextSS    = 72
	sigcontextMask  = 80
	sigcontextCR2   = 84
	sigcontextSize  = 88
)

var sigcontextRegs = []struct {
	reg trad.Reg
	off int32
}{
	{EAX, 44}, {ECX, 40}, {EDX, 36}, {EBX, 32}, {ESP, sigcontextSP}, {EBP, 24}, {ESI, 20}, {EDI, 16}, {EIP, sigcontextIP}, {EFLAGS, sigcontextFlags},
	{ES, sigcontextES}, {CS, sigcontextCS}, {SS, sigcontextSS}, {DS, sigcontextDS}, {FS, sigcontextFS}, {GS, sigcontextGS},
}

// trampolines are the vDSO's trampolines, which the C libraries have as well. The SP of the first
// is at another place at its first instruction.
var trampolines = []arch.Trampoline{
	// mov $173,%eax; int $0x80 (rt_sigreturn)
	{Code: []byte{0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}, PCs: []int{0, 5}, Symbols: []string{"__kernel_rt_sigreturn", "__restore_rt"},
		Row: signalRow(rtSigcontext), OnStack: ucontextOnStack},
	// pop %eax; mov $119,%eax; int $0x80 (sigreturn): where the handler returns to, and then.
	{Code: []byte{0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}, PCs: []int{0}, Symbols: []string{"__kernel_sigreturn", "__restore"},
		Row: beforePop(signalRow(sigframeSigcontext)), OnStack: sigcontextOnStack(sigframeSigcontext)},
	{Code: []byte{0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}, PCs: []int{0, 5}, Row: signalRow(0), OnStack: sigcontextOnStack(0)},
}

// signalRow makes rows for where struct sigcontext is at a distance from SP. The CFA of the
// trampoline's frame is the interrupted SP, as the vDSO's own unwind information has it.
func signalRow(sigcontext int32) func(lo uint64, n uint32) trad.Row {
	at := func(off int32) trad.Rule { return trad.Rule{Kind: trad.SavedAt, Reg: ESP, Off: sigcontext + off} }
	row := trad.Row{Flags: trad.Signal}
	rest := &trad.OtherRules{Default: trad.Same}
	for _, r := range sigcontextRegs {
		switch r.reg {
		case EBP:
			row.FP = at(r.off)
		case EIP:
			row.RA = at(r.off)
		case ESP:
			row.CFA = at(r.off)
			fallthrough
		default:
			rest.Regs = append(rest.Regs, trad.RegRule{Reg: r.reg, Rule: at(r.off)})
		}
	}
	row.Others = rest
	return func(lo uint64, n uint32) trad.Row {
		row := row
		row.Lo, row.Len = lo, n
		return row
	}
}

// beforePop makes rows of the first instruction alone.
func beforePop(of func(lo uint64, n uint32) trad.Row) func(lo uint64, n uint32) trad.Row {
	return func(lo uint64, _ uint32) trad.Row { return of(lo, 1) }
}

// ucontextOnStack reports whether struct rt_sigframe_ia32 is at SP: its pointers are to its own
// members, and its struct ucontext has few flags, no uc_link, and the registers of a program.
func ucontextOnStack(sp uint64, word func(off int) uint64) bool {
	const siginfo, ucontext = 12, rtSigframeUContext
	short := func(off int) uint64 { return uint64(uint32(word(off))) }
	return short(4) == sp+siginfo && short(8) == sp+ucontext && short(ucontext) <= 7 && short(ucontext+4) == 0 &&
		isProgram(func(off int) uint32 { return uint32(word(rtSigcontext + off)) })
}

// sigcontextOnStack is the same for struct sigcontext at a distance from SP.
func sigcontextOnStack(at int) func(_ uint64, word func(off int) uint64) bool {
	return func(_ uint64, word func(off int) uint64) bool {
		return isProgram(func(off int) uint32 { return uint32(word(at + off)) })
	}
}

// isProgram reports whether a struct sigcontext has the registers of a program: the segments of
// 32-bit programs (of a 64-bit kernel, or of a 32-bit one), and flags of which bit 1 is always set,
// and the bits that a program cannot set never.
func isProgram(word func(off int) uint32) bool {
	cs, ss, ds, es := uint16(word(sigcontextCS)), uint16(word(sigcontextSS)), uint16(word(sigcontextDS)), uint16(word(sigcontextES))
	const always, never = 1 << 1, 0xffc00000 | 1<<15 | 1<<5 | 1<<3
	flags := word(sigcontextFlags)
	return (cs == 0x23 && ss == 0x2b || cs == 0x73 && ss == 0x7b) && (ds == ss || ds == 0) && (es == ss || es == 0) && flags&always != 0 && flags&never == 0
}

// interruptedSP implements arch.Arch.SigContext. Handlers without SA_SIGINFO have a frame without
// struct ucontext.
func interruptedSP(_ uint64, b []byte) (sp uint64, ok bool) {
	if len(b) < sigcontextSize || !isProgram(func(off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }) {
		return 0, false
	}
	return uint64(binary.LittleEndian.Uint32(b[sigcontextSP:])), true
}

// signalFrames are struct rt_sigframe_ia32 and struct sigframe_ia32. Struct sigcontext has the
// number of the exception, and cr2.
var signalFrames = []arch.SignalFrame{
	{
		PC: rtSigcontext + sigcontextIP, OnStack: ucontextOnStack,
		HasInfo: true, Info: 12, HasNumber: true, Mask: rtSigcontext + sigcontextSize, Fault: lastFault(rtSigcontext), Brings: decoder.Brings,
	},
	{
		PC: sigframeSigcontext + sigcontextIP, OnStack: sigcontextOnStack(sigframeSigcontext),
		HasNumber: true, Mask: sigframeSigcontext + sigcontextMask, Fault: lastFault(sigframeSigcontext), Brings: decoder.Brings,
	},
}

// lastFault implements [arch.SignalFrame].Fault for a struct sigcontext at a distance from SP.
func lastFault(at int) func(word func(off int) uint64) arch.Fault {
	return func(word func(off int) uint64) arch.Fault {
		return arch.TrapFault(word(at+sigcontextTrap), word(at+sigcontextError), word(at+sigcontextCR2))
	}
}
