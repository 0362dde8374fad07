package arm64

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// The kernel's struct rt_sigframe, at which SP points when the handler has
// returned to the trampoline: siginfo, then ucontext, whose struct sigcontext
// (asm/sigcontext.h) is the fault address, x0 to x30, sp, pc, pstate and, aligned
// to 16 bytes, records of the rest. The first record is fpsimd_context.
const (
	rtSigframeUContext = 128
	ucontextSigcontext = 176
	sigcontextX0       = 8
	sigcontextSP       = sigcontextX0 + 31*8
	sigcontextPC       = sigcontextSP + 8
	sigcontextRecords  = 288
	fpsimdV0           = 16 // behind magic, size, fpsr and fpcr

	frameSigcontext = rtSigframeUContext + ucontextSigcontext
)

func inFrame(off int) trad.Rule {
	return trad.Rule{Kind: trad.SavedAt, Reg: SP, Off: int32(off)}
}

func sigcontextX(r trad.Reg) trad.Rule {
	return inFrame(frameSigcontext + sigcontextX0 + 8*int(r))
}

// signalRest holds every register of the frame but X29 and PC, which have cells
// of their own in the row. X30 is listed: what the interrupted code had in its
// link register is not where it was interrupted. It is made when first needed:
// many programs never see an arm64.
var signalRest = sync.OnceValue(func() *trad.OtherRules {
	x := &trad.OtherRules{Default: trad.Same, Exprs: []trad.Expression{interruptedVG{}}}
	for r := X0; r <= SP; r++ {
		if r != X29 {
			x.Regs = append(x.Regs, trad.RegRule{Reg: r, Rule: sigcontextX(r)})
		}
	}
	x.Regs = append(x.Regs, trad.RegRule{Reg: VG, Rule: trad.Rule{Kind: trad.ValExpr, Off: 0}})
	for r := D8; r <= D15; r++ {
		x.Regs = append(x.Regs, trad.RegRule{Reg: r, Rule: inFrame(frameSigcontext + sigcontextRecords + fpsimdV0 + 16*int(8+r-D8))})
	}
	return x
})

// signalRow: the CFA of the trampoline's frame is its SP, as gdb has it. The
// interrupted code may have run on another stack.
func signalRow(lo uint64, n uint32) trad.Row {
	return trad.Row{
		Lo: lo, Len: n, Flags: trad.Signal,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: SP},
		RA:     inFrame(frameSigcontext + sigcontextPC),
		FP:     sigcontextX(X29),
		Others: signalRest(),
	}
}

// frameOnStack reports whether struct rt_sigframe is at SP, by its members that can have few
// values: no flags and no uc_link, pstate fits a 64-bit program, and the first record is
// fpsimd_context.
func frameOnStack(_ uint64, word func(off int) uint64) bool {
	const (
		pstate     = frameSigcontext + sigcontextPC + 8
		pstateMode = 0x1f
		fpsimd     = 0x46508001 | 528<<32 // magic number and size
	)
	return word(rtSigframeUContext) == 0 && word(rtSigframeUContext+8) == 0 &&
		word(pstate)&pstateMode == 0 && word(pstate)>>32 == 0 &&
		word(frameSigcontext+sigcontextRecords) == fpsimd
}

// signalFrame is struct rt_sigframe. The address of the last page fault comes first in struct
// sigcontext.
var signalFrame = arch.SignalFrame{
	PC: frameSigcontext + sigcontextPC, OnStack: frameOnStack,
	HasInfo: true, Info: 0, InfoOptional: true, Mask: rtSigframeUContext + 40,
	Fault: lastFault,
}

// lastFault implements [arch.SignalFrame].Fault by struct esr_context, a record that the kernel
// adds if the thread has had a fault: the exception's class says whether an address belongs to it.
// Without the record, which emulators do not make, nothing is known.
func lastFault(word func(off int) uint64) arch.Fault {
	const (
		esrMagic  = 0x45535201
		records   = frameSigcontext + sigcontextRecords
		most      = 4096
		classBits = 26

		fetchAbort, dataAbort = 0x20, 0x24 // of a program (ESR_ELx_EC_IABT_LOW, DABT_LOW)
	)
	for at := records; at < records+most; {
		head := word(at)
		magic, size := uint32(head), int(head>>32)
		switch {
		case magic == esrMagic:
			if class := word(at+8) >> classBits & 0x3f; class == fetchAbort || class == dataAbort {
				return arch.Fault{Kind: arch.PageFault, Addr: word(frameSigcontext)}
			}
			return arch.Fault{Kind: arch.NoPageFault}
		case magic == 0 || size < 8 || size%8 != 0 || size > most:
			return arch.Fault{}
		}
		at += size
	}
	return arch.Fault{}
}
