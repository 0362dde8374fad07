package s390x

import (
	"debug/elf"
	"encoding/binary"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF register numbers (ELF ABI s390x supplement, "DWARF register number mapping"). The
// floating-point registers come in the ABI's own order: first the registers that a call may change,
// the even numbers before the odd ones.
const (
	R0 trad.Reg = iota
	R1
	R2
	R3
	R4
	R5
	R6
	R7
	R8
	R9
	R10
	R11 // the frame pointer, where a function has one
	R12
	R13
	R14 // the link register: the return address column
	R15 // the stack pointer
	F0
	F2
	F4
	F6
	F1
	F3
	F5
	F7
	F8
	F10
	F12
	F14
	F9
	F11
	F13
	F15

	ACR0 trad.Reg = 48 // access registers 0 to 15 follow one another
	PSWM trad.Reg = 64 // the program status word's mask
	PSWA trad.Reg = 65 // and its address, the PC

	// OrigR2 is no register: r2 at the beginning of the system call that the thread is in, which
	// the kernel keeps.
	OrigR2 trad.Reg = 95
)

// fprs are the floating-point registers by the processor's number.
var fprs = [16]trad.Reg{F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15}

// saveArea is the size of the register save area and back chain, bytes, which a
// caller leaves above its SP for what it calls: the CFA is SP at the call plus it.
const saveArea = 160

// Arch is the descriptor.
var Arch = &arch.Arch{
	Name:      "s390x",
	Unames:    []string{"s390x"},
	Machine:   elf.EM_S390,
	Order:     binary.BigEndian,
	PtrSize:   8,
	SFrameABI: []uint8{4},
	GDB:       gdb,
	Control:   control.S390X,
	Breakpad:  breakpad,
	Go: &arch.GoRules{
		InTail: R5, G: R13, InGo: R13, NoFP: true,
		Switch: []trad.Reg{R1, R14}, Storage: []trad.Reg{R10, R11, R14},
		CallSize: 6, Injected: 8,
	},

	RegisterFile: arch.RegisterFile{
		Regs:              registers(),
		PC:                PSWA,
		SP:                R15,
		FP:                R11,
		RA:                R14,
		CalleeSaved:       calleeSaved(),
		AddressMask:       ^uint64(0),
		UnsignedRegisters: true,
		WideTable:         sync.OnceValue(wideRegs),
		KernelRegs:        kernelRegs(),
		PerfRegs:          perfRegs(),
	},

	StackRules: arch.StackRules{
		StackAlign: 8,
		SPFromCFA:  -saveArea,
		// Register n has its slot 8*n bytes above the caller's SP, and the back chain
		// points there.
		BackChainRA: 8*int32(R14) - saveArea,
	},

	CodeReader: arch.CodeReader{
		ReadFrame:       Machine.ReadFrame,
		ReadSplit:       Machine.ReadSplit,
		ReadReached:     Machine.ReadReached,
		ReadEpilogue:    Machine.ReadEpilogue,
		InEpilogue:      Machine.InEpilogue,
		Exits:           Machine.Exits,
		ReadAhead:       search.ReadAhead,
		Preserves:       search.Preserves,
		References:      Machine.References,
		SkipPrologue:    Machine.SkipPrologue,
		AnalyzePrologue: analyzePrologue,
		AfterCall:       afterCall,
		CallTarget:      callTarget,
	},

	StubReader: arch.StubReader{
		StubFrame: stubFrame,
		StubSlot:  stubSlot,
		Relocations: arch.Relocations{
			JumpSlot:  uint32(elf.R_390_JMP_SLOT),
			GlobDat:   uint32(elf.R_390_GLOB_DAT),
			Relative:  uint32(elf.R_390_RELATIVE),
			IRelative: 61, // R_390_IRELATIVE
		},
	},

	KernelRules: arch.KernelRules{
		SystemResult: R2,
		SystemCalls:  &arch.SystemCalls{Futex: []uint64{238}, Restart: 7, Timers: []uint64{162, 250, 262, 312, 441}, Name: callName, Blocked: blocked},
		Trampolines: []arch.Trampoline{
			// svc of rt_sigreturn and of sigreturn: in the vDSO, or on the stack itself.
			{Code: []byte{0x0a, 173}, PCs: []int{0}, Symbols: []string{"__kernel_rt_sigreturn"}, Row: rtSignalRow, OnStack: rtSigframeOnStack},
			{Code: []byte{0x0a, 119}, PCs: []int{0}, Symbols: []string{"__kernel_sigreturn"}, Row: signalRow, OnStack: sigframeOnStack},
		},
		SignalFrames: signalFrames,
		UContext:     arch.UContext{StackBase: 16, StackSize: 32, SP: ucontextSregs + sregsGPRs + 8*int(R15)},
		SigContext:   sigContext,
	},

	LanguageRules: arch.LanguageRules{
		PackedDecimals:   true,
		ThreadPointer:    []trad.Reg{ACR0, ACR0 + 1},
		Calls:            elfABI{},
		VectorBytes:      vectorBytes,
		LongDouble:       abi.Float,
		MaxAlign:         8,
		ResolverFeatures: true,
	},
}

func init() {
	arch.Register(Arch)
	dataflow.Register(Arch, Machine)
}

// perfRegs has the general registers, the floating-point registers, in which functions save others,
// and the program status word.
func perfRegs() []arch.PerfReg {
	list := arch.PerfRun(0, R0, 16)
	for i, f := range [...]trad.Reg{F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15} {
		list = append(list, arch.PerfReg{Bit: 16 + uint8(i), Reg: f})
	}
	return append(list, arch.PerfReg{Bit: 32, Reg: PSWM}, arch.PerfReg{Bit: 33, Reg: PSWA})
}

// registers lists the registers in gdb's order of groups.
func registers() (regs []arch.RegInfo) {
	regs = make([]arch.RegInfo, 0, 16+2+16+16)
	add := func(first trad.Reg, bits int, names ...string) {
		for i, name := range names {
			regs = append(regs, arch.RegInfo{Num: first + trad.Reg(i), Name: name, Bits: bits})
		}
	}
	add(R0, 64, "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
	add(PSWM, 64, "pswm", "pswa")
	for n, name := range [...]string{"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15"} {
		add(fprs[n], 64, name)
	}
	add(ACR0, 32, "acr0", "acr1", "acr2", "acr3", "acr4", "acr5", "acr6", "acr7", "acr8", "acr9", "acr10", "acr11", "acr12", "acr13", "acr14", "acr15")
	return regs
}

// calleeSaved: access registers 0 and 1 hold the thread pointer, and compiled
// code leaves all of them alone.
func calleeSaved() arch.RegSet {
	s := arch.Set(R6, R7, R8, R9, R10, R11, R12, R13, R15, F8, F9, F10, F11, F12, F13, F14, F15)
	for n := range trad.Reg(16) {
		s.Add(ACR0 + n)
	}
	return s
}
