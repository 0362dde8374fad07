package i386

import (
	"debug/elf"
	"encoding/binary"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF register numbers (System V ABI, Intel386 supplement, table 2.14).
const (
	EAX trad.Reg = iota
	ECX
	EDX
	EBX
	ESP
	EBP
	ESI
	EDI
	EIP // the return address column
	EFLAGS

	ES trad.Reg = 40
	CS trad.Reg = 41
	SS trad.Reg = 42
	DS trad.Reg = 43
	FS trad.Reg = 44
	GS trad.Reg = 45

	GSBase trad.Reg = 94 // the thread pointer

	// OrigEAX is no register: eax at the beginning of the system call that the thread is in, which
	// the kernel keeps; all bits are set if it is in none.
	OrigEAX trad.Reg = 95
)

// Arch is the descriptor.
var Arch = &arch.Arch{
	Name:      "386",
	Unames:    []string{"i386", "i486", "i586", "i686"},
	Aliases:   []string{"i386", "i686", "x86"},
	Machine:   elf.EM_386,
	Order:     binary.LittleEndian,
	PtrSize:   4,
	GDB:       gdb,
	Control:   control.I386,
	Breakpad:  breakpad,
	Minidumps: []uint16{0, 10},

	RegisterFile: arch.RegisterFile{
		Regs: []arch.RegInfo{
			{Num: EAX, Name: "eax", Bits: 32}, {Num: ECX, Name: "ecx", Bits: 32},
			{Num: EDX, Name: "edx", Bits: 32}, {Num: EBX, Name: "ebx", Bits: 32},
			{Num: ESP, Name: "esp", Bits: 32}, {Num: EBP, Name: "ebp", Bits: 32},
			{Num: ESI, Name: "esi", Bits: 32}, {Num: EDI, Name: "edi", Bits: 32},
			{Num: EIP, Name: "eip", Bits: 32}, {Num: EFLAGS, Name: "eflags", Bits: 32},
			{Num: CS, Name: "cs", Bits: 16}, {Num: SS, Name: "ss", Bits: 16},
			{Num: DS, Name: "ds", Bits: 16}, {Num: ES, Name: "es", Bits: 16},
			{Num: FS, Name: "fs", Bits: 16}, {Num: GS, Name: "gs", Bits: 16},
			{Num: GSBase, Name: "gs_base", Bits: 32},
		},
		Continued:   []trad.Reg{EAX, EDX, ECX, EBX, ESI, EDI, EBP}, // the order in which gcc takes them
		PC:          EIP,
		SP:          ESP,
		FP:          EBP,
		RA:          EIP,
		ExchangedEH: [2]trad.Reg{ESP, EBP},
		// Segments and their bases belong to the thread, not to a frame: no call changes them.
		CalleeSaved: arch.Set(EBX, EBP, ESP, ESI, EDI, CS, SS, DS, ES, FS, GS, GSBase),
		AddressMask: 1<<32 - 1,
		FPIsAddress: true,
		WideTable:   sync.OnceValue(wideRegs),
		// struct user_regs_struct32 (the kernel's asm/user32.h). It has 4 bytes for a selector, of
		// which the processor leaves all but two undefined. asm/perf_regs.h: the selectors of data
		// segments are left out, which 64-bit kernels do not sample.
		PerfRegs: []arch.PerfReg{
			{Bit: 0, Reg: EAX}, {Bit: 1, Reg: EBX}, {Bit: 2, Reg: ECX}, {Bit: 3, Reg: EDX}, {Bit: 4, Reg: ESI}, {Bit: 5, Reg: EDI},
			{Bit: 6, Reg: EBP}, {Bit: 7, Reg: ESP}, {Bit: 8, Reg: EIP}, {Bit: 9, Reg: EFLAGS}, {Bit: 10, Reg: CS}, {Bit: 11, Reg: SS},
		},
		KernelRegs: []arch.KernelRegs{{Note: arch.NTPRStatus, Size: 68, Regs: []arch.KernelReg{
			{Reg: EBX, Off: 0, Size: 4}, {Reg: ECX, Off: 4, Size: 4}, {Reg: EDX, Off: 8, Size: 4}, {Reg: ESI, Off: 12, Size: 4},
			{Reg: EDI, Off: 16, Size: 4}, {Reg: EBP, Off: 20, Size: 4}, {Reg: EAX, Off: 24, Size: 4}, {Reg: DS, Off: 28, Size: 2},
			{Reg: ES, Off: 32, Size: 2}, {Reg: FS, Off: 36, Size: 2}, {Reg: GS, Off: 40, Size: 2}, {Reg: OrigEAX, Off: 44, Size: 4}, {Reg: EIP, Off: 48, Size: 4},
			{Reg: CS, Off: 52, Size: 2}, {Reg: EFLAGS, Off: 56, Size: 4}, {Reg: ESP, Off: 60, Size: 4}, {Reg: SS, Off: 64, Size: 2},
		}}, segments},
	},

	StackRules: arch.StackRules{
		StackAlign:  16,
		FrameRecord: 8,
		RAOffset:    pushed,
	},

	CodeReader: arch.CodeReader{
		ReadFrame:    Machine.ReadFrame,
		ReadSplit:    Machine.ReadSplit,
		ReadReached:  Machine.ReadReached,
		ReadRounded:  Machine.ReadRounded,
		JumpsAway:    Machine.JumpsAway,
		ReadEpilogue: Machine.ReadEpilogue,
		Exits:        Machine.Exits,
		InEpilogue:   Machine.InEpilogue,
		LoadsSP:      Machine.LoadsSP,
		ReadAhead:    search.ReadAhead,
		FindsFrame:   search.FindsFrame,
		Preserves:    search.Preserves,
		References:   Machine.References,
		SkipPrologue: Machine.SkipPrologue,
		FrameSetUp:   frameSetUp,
		AfterCall:    x86.AfterCall,
		CallTarget:   decoder.CallTarget,
	},

	StubReader: arch.StubReader{
		StubFrame:      decoder.StubFrame,
		StubSlot:       decoder.StubSlot,
		StubPath:       decoder.StubPath,
		ReturnReplaced: decoder.ReturnReplaced,
		ThunkBegins:    decoder.ThunkBegins,
		Thunk:          decoder.Thunk,
		ReturnPopped:   Machine.ReturnPopped,
		EntersFunction: Machine.EntersFunction,
		ReturnPushed:   Machine.ReturnPushed,
		Relocations: arch.Relocations{
			JumpSlot:  uint32(elf.R_386_JMP_SLOT),
			GlobDat:   uint32(elf.R_386_GLOB_DAT),
			Relative:  uint32(elf.R_386_RELATIVE),
			IRelative: uint32(elf.R_386_IRELATIVE),
		},
	},

	KernelRules: arch.KernelRules{
		SystemResult: EAX,
		SystemCalls: &arch.SystemCalls{
			Futex: []uint64{240, 422}, Restart: 0, Timers: []uint64{162, 256, 319, 407, 441},
			Instructions: [][]byte{int80, syscall}, Name: callName, Blocked: blocked, CutShort: cutShort,
		},
		Trampolines:  trampolines,
		SignalFrames: signalFrames,
		UContext:     arch.UContext{StackBase: 8, StackSize: 16, SP: ucontextSigcontext + sigcontextSP},
		SigContext:   interruptedSP,
	},

	LanguageRules: arch.LanguageRules{
		Handlers:      arch.Handlers{Data: []trad.Reg{EAX, EDX}, Registers: 18},
		ThreadPointer: []trad.Reg{GSBase},
		Calls:         systemV{},
		VectorBytes:   x86.VectorBytes,
		VectorCode:    decoder.VectorCode,
		LongDouble:    abi.X87,
		MaxAlign:      4,
		WideVariables: true,
		CharSigned:    true,
	},
}

func init() {
	arch.Register(Arch)
	dataflow.Register(Arch, Machine)
}
