package arm

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// The kernel's frames (arch/arm/kernel/signal.c), at which SP points when the handler has returned
// to the trampoline: struct ucontext, or struct siginfo and then that. Its struct sigcontext
// (asm/sigcontext.h) is trap_no, error_code, oldmask, r0 to r15, cpsr.
const (
	rtSigframeUContext = 128
	ucontextSigcontext = 20
	sigcontextR0       = 12

	frameR0   = ucontextSigcontext + sigcontextR0
	frameCPSR = frameR0 + 16*word
	frameMask = frameCPSR + 2*word // behind the address of the last fault

	newSigframe = 0x5ac3c35a // uc_flags of a frame without siginfo, since Linux 2.6.18
)

// signalRest returns the rules of the registers but r11 and pc, which have cells of their own, of a
// frame whose struct ucontext is at SP+off. The others that are preserved are as they were: the
// handler has preserved them.
func signalRest(off int32) *trad.OtherRules {
	x := &trad.OtherRules{Default: trad.Same}
	for r := R0; r < PC; r++ {
		if r != R11 {
			x.Regs = append(x.Regs, trad.RegRule{Reg: r, Rule: inFrame(off, r)})
		}
	}
	x.Regs = append(x.Regs, trad.RegRule{Reg: CPSR, Rule: inFrame(off, R0+16)})
	return x
}

// inFrame is the rule of register r; that behind r15 is cpsr.
func inFrame(off int32, r trad.Reg) trad.Rule {
	return trad.Rule{Kind: trad.SavedAt, Reg: SP, Off: off + frameR0 + word*int32(r)}
}

// signalRow makes rows of a frame whose struct ucontext is at SP+off. The CFA of the trampoline's
// frame is its SP, as gdb has it.
func signalRow(off int32) func(lo uint64, n uint32) trad.Row {
	rest := sync.OnceValue(func() *trad.OtherRules { return signalRest(off) })
	return func(lo uint64, n uint32) trad.Row {
		return trad.Row{
			Lo: lo, Len: n, Flags: trad.Signal,
			CFA:    trad.Rule{Kind: trad.InReg, Reg: SP},
			RA:     inFrame(off, PC),
			FP:     inFrame(off, R11),
			Others: rest(),
		}
	}
}

// userMode reports whether a cpsr may be a process's, which can have neither interrupts nor aborts
// masked, and is little-endian.
func userMode(cpsr uint64) bool { return cpsr&0x3df == 0x10 }

// plainOnStack and infoOnStack report whether the kernel's frame is at SP, by its members that can
// have few values.
func plainOnStack(_ uint64, at func(off int) uint64) bool {
	return at(0) == newSigframe && at(word) == 0 && userMode(at(frameCPSR))
}

func infoOnStack(_ uint64, at func(off int) uint64) bool {
	const (
		signals   = 64
		stackFlag = 12 // in struct ucontext: uc_stack.ss_flags, SS_ONSTACK or SS_DISABLE, and SS_AUTODISARM in bit 31
		pageFault = 14 // the greatest trap_no
	)
	context := func(off int) uint64 { return at(rtSigframeUContext + off) }
	return at(0) >= 1 && at(0) <= signals && at(word) == 0 && // si_signo, si_errno
		context(0) == 0 && context(word) == 0 && context(stackFlag)&^(1<<31) <= 2 && context(ucontextSigcontext) <= pageFault &&
		userMode(context(frameCPSR)) && context(frameR0+word*int(PC)) != 0
}

// trampolines are mov r7, #number; svc, in both instruction sets, in Thumb code also with mov of 32
// bits: of C libraries, which know the number in r7 alone, and of the kernel, whose A32 code has it
// in svc as well.
func trampolines() (list []arch.Trampoline) {
	for _, x := range []struct {
		number  byte
		symbols []string
		row     func(lo uint64, n uint32) trad.Row
		onStack func(sp uint64, at func(off int) uint64) bool
	}{
		{119, []string{"__default_sa_restorer", "__restore", "__sa_restorer"}, signalRow(0), plainOnStack},
		{173, []string{"__default_rt_sa_restorer", "__restore_rt"}, signalRow(rtSigframeUContext), infoOnStack},
	} {
		a32 := []byte{x.number, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}
		kernels := []byte{x.number, 0x70, 0xa0, 0xe3, x.number, 0, 0x90, 0xef}
		thumb := []byte{x.number, 0x27, 0x00, 0xdf}
		wide := []byte{0x4f, 0xf0, x.number, 0x07, 0x00, 0xdf}
		for i, code := range [][]byte{a32, kernels, thumb, wide} {
			svc := len(code) - 2
			if i < 2 {
				svc = word
			}
			t := arch.Trampoline{Code: code, PCs: []int{0, svc}, Row: x.row}
			if i == 0 {
				t.Symbols, t.OnStack = x.symbols, x.onStack
			}
			list = append(list, t)
		}
	}
	return list
}

// signalFrames are struct rt_sigframe and struct sigframe. The mask comes behind struct sigcontext,
// whose last member is the address of the last fault.
var signalFrames = []arch.SignalFrame{
	{PC: rtSigframeUContext + frameR0 + word*int(PC), OnStack: infoOnStack, HasInfo: true, Info: 0, Mask: rtSigframeUContext + frameMask, Fault: lastFault(rtSigframeUContext)},
	{PC: frameR0 + word*int(PC), OnStack: plainOnStack, Mask: frameMask, Fault: lastFault(0)},
}

// lastFault implements [arch.SignalFrame].Fault for a struct ucontext at a distance from SP.
func lastFault(at int) func(word func(off int) uint64) arch.Fault {
	return func(load func(off int) uint64) arch.Fault {
		return arch.TrapFault(load(at+ucontextSigcontext), 0, load(at+frameMask-word))
	}
}
