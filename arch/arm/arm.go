package arm

import (
	"debug/elf"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF register numbers (AADWARF32, 4.1). R0 to R12 follow one another. D8 to D15, of which a call
// preserves all, have the numbers of their first halves, s16 to s30, as compilers' tables name
// them. CPSR has no DWARF number: it gets its number in GDB's protocol.
const (
	R0   trad.Reg = 0
	R4   trad.Reg = 4
	R7   trad.Reg = 7  // the frame pointer of Thumb code
	R11  trad.Reg = 11 // the frame pointer of A32 code
	SP   trad.Reg = 13
	LR   trad.Reg = 14 // the return address column
	PC   trad.Reg = 15
	CPSR trad.Reg = 25
	// TPIDRURO is the thread pointer. DWARF's number, 320, is more than a register file has.
	TPIDRURO trad.Reg = 26

	S0 trad.Reg = 64
	D8 trad.Reg = S0 + 16 // D9 is two more, and so on
)

const doublesKept = 8 // d8 to d15

// Arch is the descriptor.
var Arch = &arch.Arch{
	Name:            "arm",
	Unames:          []string{"armv*"},
	Machine:         elf.EM_ARM,
	Order:           binary.LittleEndian,
	PtrSize:         word,
	GDB:             gdb,
	Control:         control.ARM,
	Breakpad:        breakpad,
	Minidumps:       []uint16{5},
	ExceptionTables: true,

	RegisterFile: arch.RegisterFile{
		Regs:              registers(),
		PC:                PC,
		SP:                SP,
		FP:                R11,
		RA:                LR,
		Doubles:           256,
		Halves:            S0,
		CalleeSaved:       calleeSaved(),
		AddressMask:       1<<32 - 2,
		UnsignedRegisters: true,
		KernelRegs:        kernelRegs(),
		PerfRegs:          arch.PerfRun(0, R0, 16),
	},

	StackRules: arch.StackRules{
		StackAlign: 8,
		FrameRecords: []arch.FrameRecord{
			{FP: R11, SavedFP: -4, SavedRA: 0, CFA: 4},   // gcc's, in A32 code: push {fp, lr}; add fp, sp, #4
			{FP: R11, SavedFP: 0, SavedRA: 4, CFA: 8},    // AAPCS32, 6.2.1.4, and clang's
			{FP: R11, SavedFP: -12, SavedRA: -4, CFA: 4}, // APCS: push {fp, ip, lr, pc}; sub fp, ip, #4
			{FP: R7, SavedFP: 0, SavedRA: 4, CFA: 8},     // clang's, in Thumb code and on Apple's systems
		},
	},

	CodeReader: arch.CodeReader{
		ReadFrame:    readFrame,
		ReadSplit:    readSplit,
		ReadReached:  readReached,
		ReadEpilogue: readEpilogue,
		InEpilogue:   inEpilogue,
		Exits:        exits,
		LoadsSP:      loadsSP,
		ReadAhead:    readAhead,
		Preserves:    preserves,
		References:   references,
		SkipPrologue: skipPrologue,
		AfterCall:    afterCall,
		CallTarget:   callTarget,
	},

	StubReader: arch.StubReader{
		StubFrame: stubFrame,
		StubSlot:  stubSlot,
		Relocations: arch.Relocations{
			JumpSlot:  uint32(elf.R_ARM_JUMP_SLOT),
			GlobDat:   uint32(elf.R_ARM_GLOB_DAT),
			Relative:  uint32(elf.R_ARM_RELATIVE),
			IRelative: uint32(elf.R_ARM_IRELATIVE),
		},
	},

	KernelRules: arch.KernelRules{
		SystemResult:  R0,
		SystemCalls:   &arch.SystemCalls{Futex: []uint64{240, 422}, Restart: 0, Timers: []uint64{162, 252, 346, 407, 441}, Name: callName, Blocked: blocked},
		SyscallRewind: 4, // do_signal in arch/arm/kernel/signal.c
		Trampolines:   trampolines(),
		SignalFrames:  signalFrames,
		// struct ucontext: uc_flags and uc_link come before uc_stack.
		UContext: arch.UContext{StackBase: 8, StackSize: 16, SP: frameR0 + word*int(SP)},
	},

	LanguageRules: arch.LanguageRules{
		ThreadPointer:       []trad.Reg{TPIDRURO},
		ThreadBlock:         2 * word, // a pointer to the C library's table, and one to spare
		LongDouble:          abi.Float,
		MaxAlign:            8,
		VirtualInAdjustment: true,
	},
}

func init() { arch.Register(Arch) }

func registers() []arch.RegInfo {
	regs := make([]arch.RegInfo, 0, 18+doublesKept)
	for i, name := range []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"} {
		regs = append(regs, arch.RegInfo{Num: R0 + trad.Reg(i), Name: name, Bits: 32})
	}
	regs = append(regs, arch.RegInfo{Num: CPSR, Name: "cpsr", Bits: 32}, arch.RegInfo{Num: TPIDRURO, Name: "tpidruro", Bits: 32})
	for i, name := range []string{"d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15"} {
		regs = append(regs, arch.RegInfo{Num: D8 + 2*trad.Reg(i), Name: name, Bits: 64})
	}
	return regs
}

// calleeSaved: AAPCS32, 6.1.1 and 6.1.2.1. TPIDRURO belongs to the thread.
func calleeSaved() (s arch.RegSet) {
	for r := R4; r <= R11; r++ {
		s.Add(r)
	}
	s.Add(SP)
	s.Add(TPIDRURO)
	for i := range trad.Reg(doublesKept) {
		s.Add(D8 + 2*i)
	}
	return s
}

// ntARMVFP is NT_ARM_VFP (elf.h): d0 to d31, fpscr.
const ntARMVFP = 0x400

// kernelRegs is elf_gregset_t (r0 to r15, cpsr, the first argument of the system call), and the
// floating-point registers.
func kernelRegs() []arch.KernelRegs {
	status := arch.KernelRegs{Note: arch.NTPRStatus, Size: 18 * word}
	for r := R0; r <= PC; r++ {
		status.Regs = append(status.Regs, arch.KernelReg{Reg: r, Off: word * int(r), Size: word})
	}
	status.Regs = append(status.Regs, arch.KernelReg{Reg: CPSR, Off: 16 * word, Size: word})
	floats := arch.KernelRegs{Note: ntARMVFP, Size: 32*8 + word}
	for i := range doublesKept {
		floats.Regs = append(floats.Regs, arch.KernelReg{Reg: D8 + 2*trad.Reg(i), Off: 8 * (8 + i), Size: 8})
	}
	return []arch.KernelRegs{status, floats, threadPointer}
}

// threadPointer is NT_ARM_TLS, which kernels of arm64 write of 32-bit processes.
var threadPointer = arch.KernelRegs{
	Note: control.NTARMTLS, Size: word, ForValues: true,
	Read: func(a *arch.Arch, data []byte, to *arch.Registers) {
		if len(data) >= word {
			to.Set(TPIDRURO, uint64(a.Order.Uint32(data)))
		}
	},
	Write: func(a *arch.Arch, from *arch.Registers, data []byte) bool {
		tp, ok := from.Get(TPIDRURO)
		if ok {
			a.Order.PutUint32(data, uint32(tp))
		}
		return ok
	},
}
