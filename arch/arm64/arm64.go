package arm64

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

// DWARF register numbers (DWARF for the Arm 64-bit Architecture, 4.1). X0 to X30
// follow one another, as D8 to D15 do: the halves of v8 to v15 that a call
// preserves.
const (
	X0    trad.Reg = 0
	X16   trad.Reg = 16
	X19   trad.Reg = 19
	X29   trad.Reg = 29 // the frame pointer
	X30   trad.Reg = 30 // the link register: the return address column
	SP    trad.Reg = 31
	PC    trad.Reg = 32
	TPIDR trad.Reg = 36 // TPIDR_EL0, the thread pointer
	VG    trad.Reg = 46 // how many 64-bit granules the scalable vectors have

	D8  trad.Reg = 72
	D15 trad.Reg = 79
)

// userBits is how many bits the addresses of a process have where nobody tells:
// Linux's largest user space without a hint at mmap(2).
const userBits = 48

// Arch is the descriptor.
var Arch = &arch.Arch{
	Name:       "arm64",
	Unames:     []string{"aarch64", "aarch64_be"},
	Machine:    elf.EM_AARCH64,
	Order:      binary.LittleEndian,
	PtrSize:    8,
	SFrameABI:  []uint8{2},
	Programs32: "arm",
	GDB:        gdb,
	Control:    control.ARM64,
	Breakpad:   breakpad,
	Go: &arch.GoRules{
		InTail: 3, G: 28, InGo: 28,
		Switch: []trad.Reg{0, 27, X30}, Storage: []trad.Reg{0, 27, X30},
		CallSize: 4, Injected: 16,
	},
	Minidumps: []uint16{12, 0x8003},

	RegisterFile: arch.RegisterFile{
		PAuth:       true,
		Regs:        registers(),
		PC:          PC,
		SP:          SP,
		FP:          X29,
		RA:          X30,
		CalleeSaved: calleeSaved(),
		AddressMask: 1<<userBits - 1,
		WideTable:   sync.OnceValue(wideRegs),
		KernelRegs:  kernelRegs(),
		PerfRegs:    arch.PerfRun(0, X0, int(PC-X0)+1),
	},

	StackRules: arch.StackRules{
		StackAlign:          16,
		FrameRecord:         16,
		FrameRecordAnywhere: true,
	},

	CodeReader: arch.CodeReader{
		ReadFrame:       Machine.ReadFrame,
		ReadSplit:       Machine.ReadSplit,
		ReadReached:     Machine.ReadReached,
		ReadEpilogue:    Machine.ReadEpilogue,
		InEpilogue:      Machine.InEpilogue,
		Exits:           Machine.Exits,
		LoadsSP:         loadsSP,
		ReadAhead:       search.ReadAhead,
		Preserves:       search.Preserves,
		GoesOn:          Machine.GoesOn,
		References:      Machine.References,
		Stores:          Machine.Stores,
		SkipPrologue:    Machine.SkipPrologue,
		AnalyzePrologue: analyzePrologue,
		AfterCall:       afterCall,
		CallTarget:      callTarget,
	},

	StubReader: arch.StubReader{
		StubFrame: stubFrame,
		StubSlot:  stubSlot,
		Relocations: arch.Relocations{
			JumpSlot:  uint32(elf.R_AARCH64_JUMP_SLOT),
			GlobDat:   uint32(elf.R_AARCH64_GLOB_DAT),
			Relative:  uint32(elf.R_AARCH64_RELATIVE),
			IRelative: uint32(elf.R_AARCH64_IRELATIVE),
		},
	},

	KernelRules: arch.KernelRules{
		SystemResult:  X0,
		SystemCalls:   &arch.SystemCalls{Futex: []uint64{98}, Restart: 128, Timers: []uint64{22, 101, 115, 441}, Name: callName, Blocked: blocked},
		SyscallRewind: 4, // do_signal in arch/arm64/kernel/signal.c
		Trampolines: []arch.Trampoline{
			// mov x8, #139; svc #0: in the vDSO, and in C libraries.
			{
				Code:    []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},
				PCs:     []int{0, 4},
				Symbols: []string{"__kernel_rt_sigreturn", "__restore_rt"},
				Row:     signalRow,
				OnStack: frameOnStack,
			},
		},
		SignalFrames: []arch.SignalFrame{signalFrame},
		// struct ucontext: uc_flags and uc_link come before uc_stack.
		UContext:      arch.UContext{StackBase: 16, StackSize: 32, SP: ucontextSigcontext + sigcontextSP},
		SignalHandler: arch.SignalHandler{Number: 0, Info: 1, UContext: 128}, // behind struct siginfo
	},

	LanguageRules: arch.LanguageRules{
		ThreadPointer:   []trad.Reg{TPIDR},
		JavaInterpreter: &arch.JavaInterpreter{Bytecode: X0 + 22, Method: X0 + 12, Sender: arch.NoReg, Thread: X0 + 28, SenderSlot: -1, WrapperSlot: -8, Between: 4},
		LuaJIT: &arch.LuaJITMachine{
			Base: X0 + 19, PC: X0 + 21, Spare: arch.NoReg, CFA: trad.Rule{Kind: trad.InReg, Reg: X0 + 29, Off: 16}, Size: 208, Unit: 4,
			Frames: []arch.LuaJITFrame{{State: 16, PC: 8, Previous: 0, Results: 40}, {State: 176, PC: 168, Previous: 160, Results: 200}},
			Link:   []byte{0x75, 0x82, 0x1f, 0xf8}, // stur x21, [x19, #-8]
			Unlink: []byte{0x75, 0x82, 0x5f, 0xf8}, // ldur x21, [x19, #-8]
			Next:   []byte{0x00, 0x01, 0x1f, 0xd6}, // br x8
			Global: X0 + 22, Stores: luajitStores, ExitBase: 408,
		},
		Zend:                &arch.ZendVM{Call: X0 + 27, Instruction: X0 + 28},
		ThreadBlock:         16, // a pointer to the C library's table, and one to spare
		Handlers:            arch.Handlers{Data: []trad.Reg{X0, X0 + 1, X0 + 2, X0 + 3}, Registers: 98},
		Calls:               aapcs64{},
		LongDouble:          abi.Float,
		MaxAlign:            16,
		VirtualInAdjustment: true,
		ResolverFeatures:    true,
	},
}

func init() {
	arch.Register(Arch)
	dataflow.Register(Arch, Machine)
}

func registers() []arch.RegInfo {
	regs := make([]arch.RegInfo, 0, 31+4+8)
	add := func(first trad.Reg, names ...string) {
		for i, name := range names {
			regs = append(regs, arch.RegInfo{Num: first + trad.Reg(i), Name: name, Bits: 64})
		}
	}
	add(X0, "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30")
	add(SP, "sp")
	add(PC, "pc")
	add(TPIDR, "tpidr")
	add(VG, "vg")
	add(D8, "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15")
	return regs
}

// calleeSaved: AAPCS64, 6.1.1 and 6.1.2. TPIDR and VG belong to the thread: a function that
// changes VG, by the change to or from streaming mode, says where it has the old one.
func calleeSaved() (s arch.RegSet) {
	for r := X19; r <= X29; r++ {
		s.Add(r)
	}
	s.Add(SP)
	s.Add(TPIDR)
	s.Add(VG)
	for r := D8; r <= D15; r++ {
		s.Add(r)
	}
	return s
}

// kernelRegs is struct user_pt_regs (x0 to x30, sp, pc, pstate), and the vectors.
func kernelRegs() []arch.KernelRegs {
	status := arch.KernelRegs{Note: arch.NTPRStatus, Size: 272, Regs: make([]arch.KernelReg, 0, PC+1)}
	for r := X0; r <= PC; r++ {
		status.Regs = append(status.Regs, arch.KernelReg{Reg: r, Off: 8 * int(r), Size: 8})
	}
	return []arch.KernelRegs{status, vectors, scalable, streaming, threadPointer}
}

// fpRegsSize is the size of struct user_fpsimd_state: v0 to v31, of 16 bytes, fpsr and
// fpcr.
const fpRegsSize = 528

// vectors is struct user_fpsimd_state.
var vectors = func() arch.KernelRegs {
	k := arch.KernelRegs{Note: arch.NTFPRegs, Size: fpRegsSize, Regs: make([]arch.KernelReg, 0, D15-D8+1)}
	for r := D8; r <= D15; r++ {
		k.Regs = append(k.Regs, arch.KernelReg{Reg: r, Off: 16 * int(8+r-D8), Size: 8})
	}
	return k
}()

// threadPointer is NT_ARM_TLS. Where there is TPIDR2_EL0, too, it follows.
var threadPointer = arch.KernelRegs{
	Note: control.NTARMTLS, Size: 8, ForValues: true,
	Read: func(a *arch.Arch, data []byte, to *arch.Registers) {
		if len(data) >= 8 {
			to.Set(TPIDR, a.Order.Uint64(data))
		}
	},
	Write: func(a *arch.Arch, from *arch.Registers, data []byte) bool {
		tp, ok := from.Get(TPIDR)
		if ok {
			a.Order.PutUint64(data, tp)
		}
		return ok
	},
}
