package amd64

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

// DWARF register numbers (System V ABI, AMD64 supplement, figure 3.36).
const (
	RAX trad.Reg = iota
	RDX
	RCX
	RBX
	RSI
	RDI
	RBP
	RSP
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	RIP // the return address column

	RFLAGS trad.Reg = 49
	ES     trad.Reg = 50
	CS     trad.Reg = 51
	SS     trad.Reg = 52
	DS     trad.Reg = 53
	FS     trad.Reg = 54
	GS     trad.Reg = 55
	FSBase trad.Reg = 58
	GSBase trad.Reg = 59

	// OrigRAX is no register: rax at the beginning of the system call that the thread is in, which
	// the kernel keeps; all bits are set if it is in none.
	OrigRAX trad.Reg = 95
)

// Arch is the descriptor.
var Arch = &arch.Arch{
	Name:       "amd64",
	Unames:     []string{"x86_64"},
	Machine:    elf.EM_X86_64,
	Order:      binary.LittleEndian,
	PtrSize:    8,
	SFrameABI:  []uint8{3},
	Programs32: "386",
	Holds32:    true,
	GDB:        gdb,
	Control:    control.AMD64,
	Breakpad:   breakpad,
	Go: &arch.GoRules{
		InTail: arch.NoReg, G: arch.NoReg, ThreadBase: FSBase, InGo: R14,
		Switch: []trad.Reg{R9}, Crosscall1: crosscall1(),
	},
	Minidumps: []uint16{9},

	RegisterFile: arch.RegisterFile{
		Regs: []arch.RegInfo{
			{Num: RAX, Name: "rax", Bits: 64}, {Num: RBX, Name: "rbx", Bits: 64},
			{Num: RCX, Name: "rcx", Bits: 64}, {Num: RDX, Name: "rdx", Bits: 64},
			{Num: RSI, Name: "rsi", Bits: 64}, {Num: RDI, Name: "rdi", Bits: 64},
			{Num: RBP, Name: "rbp", Bits: 64}, {Num: RSP, Name: "rsp", Bits: 64},
			{Num: R8, Name: "r8", Bits: 64}, {Num: R9, Name: "r9", Bits: 64},
			{Num: R10, Name: "r10", Bits: 64}, {Num: R11, Name: "r11", Bits: 64},
			{Num: R12, Name: "r12", Bits: 64}, {Num: R13, Name: "r13", Bits: 64},
			{Num: R14, Name: "r14", Bits: 64}, {Num: R15, Name: "r15", Bits: 64},
			{Num: RIP, Name: "rip", Bits: 64}, {Num: RFLAGS, Name: "eflags", Bits: 32},
			{Num: CS, Name: "cs", Bits: 16}, {Num: SS, Name: "ss", Bits: 16},
			{Num: DS, Name: "ds", Bits: 16}, {Num: ES, Name: "es", Bits: 16},
			{Num: FS, Name: "fs", Bits: 16}, {Num: GS, Name: "gs", Bits: 16},
			{Num: FSBase, Name: "fs_base", Bits: 64}, {Num: GSBase, Name: "gs_base", Bits: 64},
		},
		PC: RIP,
		SP: RSP,
		FP: RBP,
		RA: RIP,
		// Segments and their bases belong to the thread, not to a frame: no call changes them.
		CalleeSaved: arch.Set(RBX, RBP, RSP, R12, R13, R14, R15, CS, SS, DS, ES, FS, GS, FSBase, GSBase),
		AddressMask: ^uint64(0),
		FPIsAddress: true,
		WideTable:   sync.OnceValue(wideRegs),
		// asm/perf_regs.h: the selectors of data segments are left out, which 64-bit kernels do not
		// sample.
		PerfRegs: append([]arch.PerfReg{
			{Bit: 0, Reg: RAX}, {Bit: 1, Reg: RBX}, {Bit: 2, Reg: RCX}, {Bit: 3, Reg: RDX}, {Bit: 4, Reg: RSI}, {Bit: 5, Reg: RDI},
			{Bit: 6, Reg: RBP}, {Bit: 7, Reg: RSP}, {Bit: 8, Reg: RIP}, {Bit: 9, Reg: RFLAGS}, {Bit: 10, Reg: CS}, {Bit: 11, Reg: SS},
		}, arch.PerfRun(16, R8, 8)...),
		// struct user_regs_struct (sys/user.h). It has 8 bytes for a selector, of which the
		// processor leaves all but two undefined.
		KernelRegs: []arch.KernelRegs{{Note: arch.NTPRStatus, Size: 216, Regs: []arch.KernelReg{
			{Reg: R15, Off: 0, Size: 8}, {Reg: R14, Off: 8, Size: 8}, {Reg: R13, Off: 16, Size: 8}, {Reg: R12, Off: 24, Size: 8},
			{Reg: RBP, Off: 32, Size: 8}, {Reg: RBX, Off: 40, Size: 8}, {Reg: R11, Off: 48, Size: 8}, {Reg: R10, Off: 56, Size: 8},
			{Reg: R9, Off: 64, Size: 8}, {Reg: R8, Off: 72, Size: 8}, {Reg: RAX, Off: 80, Size: 8}, {Reg: RCX, Off: 88, Size: 8},
			{Reg: RDX, Off: 96, Size: 8}, {Reg: RSI, Off: 104, Size: 8}, {Reg: RDI, Off: 112, Size: 8}, {Reg: OrigRAX, Off: 120, Size: 8}, {Reg: RIP, Off: 128, Size: 8},
			{Reg: CS, Off: 136, Size: 2}, {Reg: RFLAGS, Off: 144, Size: 8}, {Reg: RSP, Off: 152, Size: 8}, {Reg: SS, Off: 160, Size: 2},
			{Reg: FSBase, Off: 168, Size: 8}, {Reg: GSBase, Off: 176, Size: 8}, {Reg: DS, Off: 184, Size: 2}, {Reg: ES, Off: 192, Size: 2},
			{Reg: FS, Off: 200, Size: 2}, {Reg: GS, Off: 208, Size: 2},
		}}},
	},

	StackRules: arch.StackRules{
		RedZone:     128,
		StackAlign:  16,
		FrameRecord: 16,
		RAOffset:    -8,
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
		LoadsSP:      loadsSP,
		ReadAhead:    search.ReadAhead,
		FindsFrame:   search.FindsFrame,
		Preserves:    search.Preserves,
		GoesOn:       Machine.GoesOn,
		RunOn:        runOn,
		References:   Machine.References,
		Stores:       stores,
		Dispatch:     decoder.Dispatch,
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
			JumpSlot:  uint32(elf.R_X86_64_JMP_SLOT),
			GlobDat:   uint32(elf.R_X86_64_GLOB_DAT),
			Relative:  uint32(elf.R_X86_64_RELATIVE),
			IRelative: uint32(elf.R_X86_64_IRELATIVE),
		},
	},

	KernelRules: arch.KernelRules{
		SystemResult: RAX,
		Vsyscall:     0xffffffffff600000,
		SystemCalls: &arch.SystemCalls{
			Futex: []uint64{202}, Restart: 219, Timers: []uint64{35, 230, 232, 281, 441},
			Instructions: [][]byte{syscall}, Name: callName, Blocked: blocked, CutShort: cutShort,
		},
		Trampolines: []arch.Trampoline{
			// mov $15,%rax; syscall (glibc, musl) and mov $15,%eax; syscall (Go).
			{Code: []byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, PCs: []int{0, 7}, Symbols: []string{"__restore_rt"}, Row: signalRow, OnStack: ucontextOnStack},
			{Code: []byte{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}, PCs: []int{0, 5}, Row: signalRow, OnStack: ucontextOnStack},
		},
		SignalFrames: []arch.SignalFrame{signalFrame},
		// struct ucontext: uc_flags and uc_link come before uc_stack, then mcontext.
		UContext:      arch.UContext{StackBase: 16, StackSize: 32, SP: 160},
		SignalHandler: arch.SignalHandler{Number: RDI, Info: RSI, UContext: 8}, // behind the return address
	},

	LanguageRules: arch.LanguageRules{
		Handlers:        arch.Handlers{Data: []trad.Reg{RAX, RDX}, Registers: 18},
		ThreadPointer:   []trad.Reg{FSBase},
		Erlang:          &arch.ErlangCode{Registers: RBX, Process: R13, Saved: RBP, ToC: erlangToC},
		ErlangVM:        &arch.ErlangVM{Instruction: RBX, Stack: R13},
		SBCL:            sbclMoment,
		SBCLGate:        arch.SBCLGate{Saved: []trad.Reg{RBX, R12, R13, R14, R15}, Begins: sbclGate},
		SBCLValues:      arch.SBCLValues{CFA: RBX, Moves: sbclMoves},
		JavaInterpreter: &arch.JavaInterpreter{Bytecode: R13, Method: RBX, Sender: R13, Thread: R15, SenderSlot: -1, WrapperSlot: -6, Between: 3},
		Zend:            &arch.ZendVM{Call: R14, Instruction: R15, ThreadKey: zendThreadKey},
		LuaJIT: &arch.LuaJITMachine{
			Base: RDX, PC: RBX, Spare: RBP, CFA: trad.Rule{Kind: trad.InReg, Reg: RSP, Off: 80}, Size: 80, Unit: 1,
			Frames: []arch.LuaJITFrame{{State: 16, PC: 24, Previous: 32, Results: 8}},
			Saved:  []trad.RegRule{{Reg: R12, Rule: trad.Rule{Kind: trad.Saved, Off: -80}}, {Reg: R13, Rule: trad.Rule{Kind: trad.Saved, Off: -88}}},
			// push r13, r12, r11, r10, r9, r8, rdi, rsi, rbp; lea rbp, [rsp+88]
			Exit:   []byte{0x41, 0x55, 0x41, 0x54, 0x41, 0x53, 0x41, 0x52, 0x41, 0x51, 0x41, 0x50, 0x57, 0x56, 0x55, 0x48, 0x8d, 0x6c, 0x24, 0x58},
			Exited: []byte{0x48, 0x89, 0xcc},             // mov rsp, rcx
			Link:   []byte{0x48, 0x89, 0x5a, 0xf8},       // mov [rdx-8], rbx
			Unlink: []byte{0x48, 0x8b, 0x5a, 0xf8},       // mov rbx, [rdx-8]
			Back:   []byte{0x48, 0x8d, 0x54, 0xca, 0xf0}, // lea rdx, [rdx+rcx*8-16]
			Next:   []byte{0x41, 0xff, 0x24, 0xee},       // jmp [r14+rbp*8]
			Global: R14, Stores: luajitStores, ExitBase: 144,
		},
		YJIT: &arch.YJITCode{Context: R12, Frame: R13, Saved: []trad.Reg{R13, R12, RBX}},
		PyPy: &arch.PyPyFrame{
			CFA: 192, Record: 152, Saves: 96,
			Saved: []trad.RegRule{
				{Reg: RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -88}}, {Reg: R12, Rule: trad.Rule{Kind: trad.Saved, Off: -80}},
				{Reg: R13, Rule: trad.Rule{Kind: trad.Saved, Off: -72}}, {Reg: R14, Rule: trad.Rule{Kind: trad.Saved, Off: -64}},
				{Reg: R15, Rule: trad.Rule{Kind: trad.Saved, Off: -56}},
			},
			// sub rsp, 184; mov [rsp+96], rbp
			Begin: []byte{0x48, 0x81, 0xec, 0xb8, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x60}, Room: 7,
			Stores: []uint64{0x3b, 0x40, 0x45, 0x4d, 0x55}, Return: []byte{0xc3},
		},
		Chez:        &arch.ChezCode{Context: R14, Stack: R13, Inward: chezInward, Reach: chezReach},
		JavaColours: true,
		Makes:       makes,
		CoreCLR:     true,
		Mono:        true,
		V8:          true,
		V8Exit:      v8Exit,
		RubyThreads: true,
		RContexts:   true,
		BoostFibers: true,
		Calls:       systemV{},
		VectorBytes: x86.VectorBytes,
		VectorCode:  decoder.VectorCode,
		LongDouble:  abi.X87,
		MaxAlign:    16,
		CharSigned:  true,
	},
}

func init() {
	arch.Register(Arch)
	dataflow.Register(Arch, Machine)
}
