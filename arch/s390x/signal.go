package s390x

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// Where the kernel's register set _sigregs (asm/sigcontext.h) lies. SP points at
// the frame when the handler has returned to the trampoline; a register save
// area for the handler's sake comes first.
const (
	// struct sigframe: the old mask and a pointer to the set, then the set.
	sigframeSregs = saveArea + 16
	// struct rt_sigframe: the svc instruction, padded to 8 bytes, siginfo of 128
	// bytes, ucontext.
	rtSigframeSregs = saveArea + 8 + 128 + ucontextSregs
	// struct ucontext: uc_flags, uc_link, uc_stack, then uc_mcontext.
	ucontextSregs = 40
)

// The members of _sigregs, and of s390_regs (asm/ptrace.h), which begins alike.
const (
	sregsMask = 0   // program status word: mask
	sregsAddr = 8   // and address
	sregsGPRs = 16  // 16 of 8 bytes
	sregsACRs = 144 // 16 of 4 bytes
	sregsFPRs = 216 // 16 of 8 bytes, behind the control register and padding
	sregsSize = sregsFPRs + 16*8
)

// rtSignalRow is the row of the trampoline that ends a handler with rt_sigreturn. signalRow is the
// row of the trampoline with sigreturn. The CFA is as the interrupted code would have had it for a
// call: its SP + 160.
func rtSignalRow(lo uint64, n uint32) trad.Row {
	return sigregsRow(lo, n, rtSigframeSregs, rtSignalRest())
}
func signalRow(lo uint64, n uint32) trad.Row {
	return sigregsRow(lo, n, sigframeSregs, signalRest())
}

// Made when first needed: most programs never see an s390x.
var (
	rtSignalRest = sync.OnceValue(func() *trad.OtherRules { return sigregsRest(rtSigframeSregs) })
	signalRest   = sync.OnceValue(func() *trad.OtherRules { return sigregsRest(sigframeSregs) })
)

func sigregsRow(lo uint64, n uint32, sregs int32, rest *trad.OtherRules) trad.Row {
	return trad.Row{
		Lo: lo, Len: n, Flags: trad.Signal,
		CFA: trad.Rule{Kind: trad.ValExpr},
		RA:  inFrame(sregs + sregsAddr), FP: inFrame(sregs + sregsGPRs + 8*int32(R11)),
		Others: rest,
	}
}

func inFrame(off int32) trad.Rule { return trad.Rule{Kind: trad.SavedAt, Reg: R15, Off: off} }

// sigregsRest holds every register of a set but R11 and the PC, which have cells
// of their own in the row. R14 is listed: what the interrupted code had in its
// link register is not where it was interrupted.
func sigregsRest(sregs int32) *trad.OtherRules {
	x := &trad.OtherRules{Default: trad.Same, Exprs: []trad.Expression{dataflow.SavedSP{Reg: R15, Off: sregs + sregsGPRs + 8*int32(R15), Add: saveArea}}}
	for _, r := range sregsRegs() {
		rule := inFrame(sregs + int32(r.Off))
		if r.Size == 4 { // less than a word: no rule but an expression reads it
			rule = trad.Rule{Kind: trad.ValExpr, Off: int32(len(x.Exprs))}
			x.Exprs = append(x.Exprs, access(sregs+int32(r.Off)))
		}
		if r.Reg != R11 && r.Reg != PSWA {
			x.Regs = append(x.Regs, trad.RegRule{Reg: r.Reg, Rule: rule})
		}
	}
	slices.SortFunc(x.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	return x
}

// sregsRegs is the layout of _sigregs.
func sregsRegs() (regs []arch.KernelReg) {
	regs = make([]arch.KernelReg, 0, 2+3*16)
	regs = append(regs, arch.KernelReg{Reg: PSWM, Off: sregsMask, Size: 8}, arch.KernelReg{Reg: PSWA, Off: sregsAddr, Size: 8})
	for n := range 16 {
		regs = append(regs,
			arch.KernelReg{Reg: R0 + trad.Reg(n), Off: sregsGPRs + 8*n, Size: 8},
			arch.KernelReg{Reg: ACR0 + trad.Reg(n), Off: sregsACRs + 4*n, Size: 4},
			arch.KernelReg{Reg: fprs[n], Off: sregsFPRs + 8*n, Size: 8})
	}
	return regs
}

// kernelRegs is s390_regs, of which the general and access registers stand as in
// _sigregs with r2 as it was before a system call behind them, and s390_fp_regs,
// which is the end of _sigregs.
func kernelRegs() []arch.KernelRegs {
	status := arch.KernelRegs{Note: arch.NTPRStatus, Size: 216}
	floats := arch.KernelRegs{Note: arch.NTFPRegs, Size: 136}
	all := sregsRegs()
	status.Regs = make([]arch.KernelReg, 0, len(all)-16)
	floats.Regs = make([]arch.KernelReg, 0, 16)
	for _, r := range all {
		if r.Off < sregsFPRs {
			status.Regs = append(status.Regs, r)
			continue
		}
		r.Off -= sregsFPRs - 8
		floats.Regs = append(floats.Regs, r)
	}
	status.Regs = append(status.Regs, arch.KernelReg{Reg: OrigR2, Off: 208, Size: 8})
	return []arch.KernelRegs{status, floats}
}

// rtSigframeOnStack reports whether struct rt_sigframe is at SP, by its members that can
// have few values: few flags, no uc_link, and the program status word of a program.
func rtSigframeOnStack(_ uint64, word func(off int) uint64) bool {
	const ucontext = rtSigframeSregs - ucontextSregs
	return word(ucontext) <= 3 && word(ucontext+8) == 0 && isUserPSW(word(rtSigframeSregs+sregsMask))
}

// sigframeOnStack does the same for struct sigframe, which has a pointer to its own
// registers.
func sigframeOnStack(sp uint64, word func(off int) uint64) bool {
	return word(sigframeSregs-8) == sp+sigframeSregs && isUserPSW(word(sigframeSregs+sregsMask))
}

// sigContext knows struct sigcontext (asm/sigcontext.h), the old mask and a pointer to the set,
// which in struct sigframe comes next. Handlers without SA_SIGINFO have such a frame.
func sigContext(addr uint64, b []byte) (sp uint64, ok bool) {
	const sregs = sigframeSregs - saveArea
	word := func(off int) uint64 { return binary.BigEndian.Uint64(b[off:]) }
	if len(b) < sregs+sregsACRs || word(sregs-8) != addr+sregs || !isUserPSW(word(sregs+sregsMask)) {
		return 0, false
	}
	return word(sregs + sregsGPRs + 8*int(R15)), true
}

// isUserPSW reports whether a program status word's mask fits a 64-bit program: problem state,
// extended and basic addressing.
func isUserPSW(mask uint64) bool {
	const want = 1<<(63-15) | 1<<(63-31) | 1<<(63-32)
	return mask&want == want
}

// signalFrames are struct rt_sigframe and struct sigframe (arch/s390/kernel/signal.c). The former
// has the mask behind its set of registers, the latter before it. Behind the latter's set is signo,
// which does not count: kernels since Linux 3.18 have the interrupted r2 there.
var signalFrames = []arch.SignalFrame{
	{PC: rtSigframeSregs + sregsAddr, OnStack: rtSigframeOnStack, HasInfo: true, Info: saveArea + 8, Mask: rtSigframeSregs + sregsSize},
	{PC: sigframeSregs + sregsAddr, OnStack: sigframeOnStack, Mask: saveArea},
}
