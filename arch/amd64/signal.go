package amd64

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// sigcontext starts at byte 40 of struct ucontext (after uc_flags, uc_link and
// uc_stack), and SP points at that when the handler has returned to the
// trampoline. Order of the registers: Linux's struct sigcontext.
const sigcontext = 40

var sigcontextRegs = []trad.Reg{
	R8, R9, R10, R11, R12, R13, R14, R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP, RFLAGS,
}

// sigcontextCS is where the 2 bytes of the code segment's selector are, behind those
// registers. What follows it for gs and fs is always 0, and for ss on older kernels.
const sigcontextCS = sigcontext + 18*8

// signalRest holds every register of the ucontext but RBP and RIP, which have
// cells of their own in the row.
var signalRest = func() *trad.OtherRules {
	x := &trad.OtherRules{Default: trad.Same}
	for r := RAX; r <= RFLAGS; r++ {
		for i, s := range sigcontextRegs {
			if s == r && r != RBP && r != RIP {
				x.Regs = append(x.Regs, trad.RegRule{Reg: r, Rule: inUContext(i)})
			}
		}
	}
	x.Regs = append(x.Regs, trad.RegRule{Reg: CS, Rule: trad.Rule{Kind: trad.SavedAt, Reg: RSP, Off: sigcontextCS}})
	return x
}()

func inUContext(i int) trad.Rule {
	return trad.Rule{Kind: trad.SavedAt, Reg: RSP, Off: int32(sigcontext + 8*i)}
}

// signalRow: the CFA of the trampoline's frame is the interrupted SP, as glibc's
// own unwind information for __restore_rt has it.
func signalRow(lo uint64, n uint32) trad.Row {
	return trad.Row{
		Lo: lo, Len: n, Flags: trad.Signal,
		CFA: inUContext(15), RA: inUContext(16), FP: inUContext(10),
		Others: signalRest,
	}
}

// ucontextOnStack reports whether struct ucontext is at SP, by its members that can have few
// values: the flags have three bits, there is no uc_link, the code segment is the one of 64-bit
// programs, bit 1 of eflags is always set, and the floating point state is aligned.
func ucontextOnStack(_ uint64, word func(off int) uint64) bool {
	const (
		ucFlags, ucLink  = 0, 8
		eflags, segments = sigcontext + 8*17, sigcontext + 8*18 // cs, gs, fs, ss of 2 bytes each
		fpstate          = sigcontext + 8*23
		userCS, userSS   = 0x33, 0x2b
	)
	flags, sel := word(eflags), word(segments)
	return word(ucFlags) <= 7 && word(ucLink) == 0 &&
		flags&2 != 0 && flags>>32 == 0 &&
		uint16(sel) == userCS && (sel>>48 == userSS || sel>>48 == 0) && // old kernels leave ss out
		word(fpstate)%16 == 0
}

// signalFrame is struct rt_sigframe (asm/sigframe.h), from its struct ucontext on: uc_sigmask comes
// behind struct sigcontext, and then struct siginfo. Struct sigcontext has the number of the
// exception, and cr2.
var signalFrame = arch.SignalFrame{
	PC: sigcontext + 8*16, OnStack: ucontextOnStack,
	HasInfo: true, Info: 304, InfoOptional: true, Mask: 296,
	Fault: func(word func(off int) uint64) arch.Fault {
		return arch.TrapFault(word(sigcontext+8*20), word(sigcontext+8*19), word(sigcontext+8*22))
	},
	Brings: decoder.Brings,
}
