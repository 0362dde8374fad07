package arch

import (
	"debug/elf"
	"encoding/binary"
	"strconv"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// Arch describes one architecture to the engine and the sniffers.
// A descriptor is never changed after it has been registered.
type Arch struct {
	Name      string   // GOARCH's name: "amd64"
	Aliases   []string // other names by which users know it
	Machine   elf.Machine
	Order     binary.ByteOrder
	PtrSize   int     // bytes of an address
	SFrameABI []uint8 // SFrame ABI/arch identifiers that this descriptor serves
	// Programs32 is the name of the architecture of the 32-bit programs that kernels of this one may run, too; "" if
	// there is none. Holds32 says that the threads of these programs can be held and read.
	Programs32 string
	Holds32    bool
	GDB        func() *GDB // the tables are made when they are first asked for
	// PAuth says that code addresses may carry a pointer authentication code. The kernel tells in
	// which bits by NT_ARM_PAC_MASK.
	PAuth bool

	// Regs are the registers that a user sees, in the order to print them.
	Regs []RegInfo
	// Continued are the registers in the order in which a value goes on that is wider than one of them. If it is nil,
	// the order is the one of Regs.
	Continued []trad.Reg
	// PC, SP and FP are numbers of THIS frame's own registers. RA is the return
	// address column of the ABI's unwind tables: the PC itself where a call pushes
	// its return address, the link register elsewhere.
	PC, SP, FP, RA trad.Reg
	// ExchangedEH are two registers, SP first, that .eh_frame of some systems numbers the other way round: see
	// cfi.ABI. They are the same one where all agree.
	ExchangedEH [2]trad.Reg
	// Doubles and Halves are numbers of registers that unwind tables may name in two ways: see cfi.ABI.
	Doubles, Halves trad.Reg
	// Handlers says what is known of libgcc's unwinder. It is zero if calls preserve the registers in which handlers get
	// their data.
	Handlers Handlers
	// SystemResult is the register in which a system call returns its result.
	SystemResult trad.Reg
	// SyscallRewind is how many bytes the PC of a thread that a tracer has stopped in a system call
	// may lie before the PC in /proc/PID/syscall, which the kernel tells while the thread is blocked:
	// the length of the instruction that makes the call, where the kernel prepares to make it
	// once more before the tracer reads the registers; 0 where it does so after that.
	SyscallRewind uint64
	// Vsyscall is the address of a page of the kernel's, in every process, with functions that need no stack; their code
	// cannot be read everywhere. It is 0 where there is none.
	Vsyscall uint64
	// SystemCalls says in which system call a thread is. It is nil if that is not known.
	SystemCalls *SystemCalls
	// CalleeSaved are the registers that the ABI lets a caller rely on across a
	// call, so that "not mentioned by the unwind table" means "unchanged". SP counts.
	CalleeSaved RegSet
	// ThreadPointer are the registers that together hold the address of a thread's own storage, the one with the upper
	// bits first.
	ThreadPointer []trad.Reg
	// ThreadBlock is how many bytes at that address are the C library's own, where a program's thread-local variables
	// follow them (variant I of ELF's handling of thread-local storage). It is 0 where the variables end at the
	// address (variant II).
	ThreadBlock uint64

	RedZone    int   // bytes below SP that a function may use
	StackAlign int   // SP's alignment at a call, bytes; a power of two
	SPFromCFA  int64 // PREVIOUS's SP is CFA + SPFromCFA where no rule says otherwise
	// FrameRecord is the distance of the CFA from FP once a function with a frame
	// pointer has set it up, FP pointing to the saved FP and the return address
	// behind it; 0 where the ABI has no such record.
	FrameRecord int32
	// FrameRecordAnywhere says that the record may lie anywhere in the frame: the CFA is
	// then at FP+FrameRecord or further outward, and the record does not tell SP.
	FrameRecordAnywhere bool
	// FrameRecords are the forms of frame record where compilers do not agree on one, the likeliest first;
	// FrameRecord is 0 then.
	FrameRecords []FrameRecord
	// BackChainRA is the return address's distance from the CFA in a function that
	// keeps a back chain: the word at SP is PREVIOUS's SP. 0 where the ABI has none.
	BackChainRA int32
	RAOffset    int32 // the return address is at CFA+RAOffset on entry; 0 where it is in register RA

	// AddressMask has the bits of a code address that are address: the rest may
	// carry a pointer authentication code. A target that knows better overrides it.
	AddressMask uint64

	// ReadFrame finds the row for pc by reading machine code, where no unwind table describes
	// it. code holds the function's bytes from its entry, at address start, to beyond pc. The
	// row is exact for pc and covers one instruction. Where there is none, why is a constant
	// sentence that says so. steps is how many instructions ReadFrame has followed, those of
	// loops several times.
	ReadFrame func(code []byte, start, pc uint64) (row trad.Row, steps int, why string)
	// ReadSplit is ReadFrame for a function in two parts. In the second one a row is a guess
	// unless a way leads there from the entry.
	ReadSplit func(code *SplitFunction, pc uint64) (row trad.Row, steps int, why string)
	// ReadReached is ReadFrame for a start that may be no entry. It takes far less time, for it
	// does not guess at code that the flow of control from start does not reach.
	ReadReached func(code []byte, start, pc uint64) (row trad.Row, steps int, why string)
	// ReadRounded is ReadReached for a function that has rounded its stack pointer down to a multiple of align, and
	// keeps nowhere what it was, as code does that never returns. The row's CFA is the innermost one that THIS can
	// have. The true one lies outward of it, by less than align. align is 0, and the row empty, if the code from
	// start to pc is none of such a function. ReadRounded is nil where a call does not push the return address: it
	// would not tell the right CFA from others.
	ReadRounded func(code []byte, start, pc uint64) (row trad.Row, align uint32, steps int)
	// JumpsAway returns the targets of the direct jumps in code, from the instruction at address start on, that lead out
	// of the code. Data in the code may yield targets, too. It is nil where ReadRounded is.
	JumpsAway func(code []byte, start uint64) (targets []uint64, steps int)
	// ReadEpilogue follows straight code from pc, at which code begins, to where it leaves the
	// function, and returns the row for pc. out is 0, and the row empty, where the code does not lead
	// there, or does more on the way than an epilogue does. It needs no function start.
	ReadEpilogue func(code []byte, pc uint64) (row trad.Row, out WayOut)
	// ReadAhead follows the code from pc forward to where it returns, where nobody knows at
	// which address its function begins. code surrounds pc, and begins at address start; away,
	// which may be nil, returns the code around the target of a jump, or nothing. ReadAhead
	// yields a row of one instruction for each way out, the surest first, until yield returns
	// false; calls is how many calls must come back on the way. A row is true if control can
	// take its way. It is marked as a guess if the way does not end in a return. If straight
	// code leads to the end of the thread, the row is that of an outermost frame. steps is how
	// many instructions ReadAhead has followed.
	ReadAhead func(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64), yield func(row trad.Row, calls int) bool) (steps int)
	// FindsFrame reports whether the code from pc on finds its frame by the frame pointer that there
	// is at pc: the code loads or stores what lies inward of there, or sets the stack pointer so. Then the
	// frame record at the frame pointer is the one of the function. code, start and away are as for ReadAhead.
	// steps is how many instructions FindsFrame has followed. It is nil where frame records do not
	// lie at the outer end of frames.
	FindsFrame func(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64)) (finds bool, steps int)
	// Preserves returns the registers that the function at entry leaves alone although the ABI
	// lets it change them: neither its instructions write them nor the functions that it calls.
	// There are none unless all of that code can be followed to its returns, and pc is in it. code
	// surrounds entry and pc, and begins at address start. steps is how many instructions
	// Preserves has followed.
	Preserves func(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int)
	// LoadsSP reports whether straight code, with calls or without, loads the stack pointer from the
	// stack that it points to: the code goes back to a stack that it has left. [MaxLoadSP] bytes
	// are enough. It is nil where every function does so.
	LoadsSP func(code []byte) bool
	// InEpilogue reports whether pc is on a way out that [TearsDown]: at the instruction that the way
	// begins with, or behind it. code holds the function's bytes from its entry, at address start,
	// to beyond pc.
	InEpilogue func(code []byte, start, pc uint64) bool
	// Exits says how the flow of control from offset at of a function's code can leave the
	// function. code ends where the function does: the call at its end does not return.
	Exits func(code []byte, at int) Exits
	// References returns the addresses that code, which begins at address start, refers to
	// relative to itself, in the order of the code: what it loads or stores, or the address of
	// which it takes. Code that is not understood has fewer.
	References func(code []byte, start uint64) []uint64
	// SkipPrologue returns the address of the first instruction after the prologue
	// of the function whose bytes, from its entry at start, are code.
	SkipPrologue func(code []byte, start uint64) uint64
	// AnalyzePrologue returns the address of the first instruction that is not one of the prologue, as GDB's reader of the
	// processor's code has it where no line table tells; start if there is none. It may go on over stores of arguments,
	// which SkipPrologue does not. code and start are as there. It is nil where FrameSetUp tells.
	AnalyzePrologue func(code []byte, start uint64) uint64
	// FrameSetUp returns the address behind the instructions that push the frame pointer and set it, if
	// the function whose bytes, from its entry at start, are code begins with them; else start. It is nil
	// where debuggers take the second line of a function as the end of its prologue, whatever its code.
	FrameSetUp func(code []byte, start uint64) uint64
	// StubFrame returns the CFA's distance from SP at pc in a linkage stub (PLT
	// entry) whose block of bytes, beginning at address start, is code.
	StubFrame func(code []byte, start, pc uint64) (fromSP int32, ok bool)
	// StubSlot returns the address of the word through which the linkage stub jumps that code, at
	// address start, begins with (its entry of the global offset table), and the stub's length in
	// bytes with its padding. ok is false where no stub begins. got is the address of the file's global
	// offset table (DT_PLTGOT), which stubs of some processors find in a register; 0 if it is not known.
	StubSlot func(code []byte, start, got uint64) (slot uint64, length int, ok bool)
	// StubPath returns the CFA's distance from SP at pc in a section [lo, hi) of linkage stubs, whatever their form:
	// it follows the code to where that leaves the section. read returns the code at an address, as much as the
	// longest instruction needs. It is nil where stubs have forms that StubFrame knows.
	StubPath func(lo, hi, pc uint64, read func(addr uint64) []byte) (fromSP int32, ok bool)
	// ReturnReplaced reports whether code ends with an instruction that replaces the return address at SP. Then a return
	// behind it is a jump to a function. It is nil where calls leave the return address in a register.
	ReturnReplaced func(code []byte) bool
	// ThunkBegins reports whether code drops or replaces the return address of a call that ends, with a loop behind
	// it, the code before. It is nil where calls leave the return address in a register.
	ThunkBegins func(before, code []byte) bool
	// Thunk tells of an instruction of such a thunk, code[at:], how many words the thunk's own call has pushed there, and
	// whether a call stands behind the thunk that leads to it, as to a function. ok is false where no thunk is.
	// It is nil where ThunkBegins is.
	Thunk func(code []byte, at int) (pushed int32, called, ok bool)
	// ReturnPushed reports whether straight code pushes a register, and whether it then returns to the address in
	// the register, as code does that changes to another stack. It is nil where calls leave the return address in
	// a register.
	ReturnPushed func(code []byte) (pushes, returns bool)
	// ReturnPopped returns the register that holds the return address, if the code before has popped it there from the
	// stack, and code only jumps to it. before returns the code before; it is asked for only if code does so. ok is
	// false otherwise. It is nil where calls leave the return address in a register.
	ReturnPopped func(code []byte, before func() []byte) (by trad.Reg, ok bool)
	// AfterCall reports whether code, which ends at a possible return address, ends
	// with a call instruction. [MaxCall] bytes are enough.
	AfterCall func(code []byte) bool
	// CallTarget returns where the call goes that code, which ends at the return address
	// ra, ends with; ok is false where it does not end with one that says so.
	CallTarget func(code []byte, ra uint64) (target uint64, ok bool)

	Relocations Relocations
	// Trampolines are the forms of the code that a signal handler returns to.
	Trampolines []Trampoline
	UContext    UContext
	// SigContext returns the interrupted SP of a signal frame that has no struct ucontext, if its
	// struct sigcontext is at addr, from where on b is the memory. Nil where the kernel makes none.
	SigContext func(addr uint64, b []byte) (sp uint64, ok bool)

	// Calls is the calling convention of C and C++. LongDouble is the kind of C's long double.
	Calls      abi.Convention
	LongDouble abi.Kind
	// VectorBytes returns abi.Func.VectorBytes of functions whose compiler has recorded a text (DW_AT_producer) with its
	// options; known is false if that does not tell. It is nil where no option matters.
	VectorBytes func(producer string) (n uint64, known bool)
	// VectorCode returns what the code of a function tells of that: the function may have been compiled for another
	// processor than its file (__attribute__((target))). ok is false if the code contradicts itself, or cannot be decoded.
	// It is nil where code tells nothing.
	VectorCode func(code []byte) (c VectorCode, ok bool)
	// MaxAlign is the greatest alignment of C's numbers and pointers within a struct, in bytes: smaller ones are
	// aligned to their own size. WideVariables says that variables and buffers of 8 bytes are aligned to 8 even if
	// MaxAlign is less.
	MaxAlign      uint64
	WideVariables bool
	// UnsignedRegisters says that GDB shows general registers as numbers without a sign, and FPIsAddress that it shows the
	// frame pointer's register, by whichever name, as an address.
	UnsignedRegisters, FPIsAddress bool
	// VirtualInAdjustment says that a C++ pointer to a virtual method is marked in the lowest bit of its second word, and not of
	// its first, which may be the address of Thumb code (the C++ ABI for Arm, section 3.2.1).
	VirtualInAdjustment bool
	// PackedDecimals says that decimal floating-point numbers have their digits in groups of ten bits (DPD), and not as
	// a binary number (BID).
	PackedDecimals bool
	// CharSigned says that C's char is signed. ResolverFeatures says that the function that returns another one's
	// address (STT_GNU_IFUNC) takes the processor's features (AT_HWCAP).
	CharSigned, ResolverFeatures bool

	// Control says how a debugger holds threads.
	Control Control

	// WideTable makes [Arch.WideRegs]; nil if there are none.
	WideTable func() []WideReg

	// KernelRegs are the kernel's register sets, NT_PRSTATUS first.
	KernelRegs []KernelRegs

	index [MaxReg]int8  // 1 + a register's position in Regs
	spare [MaxReg]uint8 // by how many bits a register is narrower than 64
	kept  [MaxReg]int8  // 1 + a callee-saved register's position among them

	// PerfRegs are the registers of samples of perf_event_open(2).
	PerfRegs []PerfReg

	// OtherCalleeSaved are the callee-saved registers but PC, SP, FP and RA, in the order of
	// [Arch.OtherCalleeSavedIndex]. NarrowRegs are those of Regs that have less than 64 bits.
	// [Register] fills them in.
	OtherCalleeSaved, NarrowRegs []trad.Reg
}

// MaxOtherCalleeSaved is how many callee-saved registers [Arch.OtherCalleeSavedIndex] numbers at most.
const MaxOtherCalleeSaved = 20

// MaxCall is the length in bytes of the longest call instruction of any
// architecture.
const MaxCall = 8

// MaxLoadSP is how many bytes of code [Arch.LoadsSP] looks at, at most.
const MaxLoadSP = 32

// A WayOut says how straight code leaves its function; it is 0 where it does not.
type WayOut uint8

const (
	// Leaves: the code leads to a return or a jump.
	Leaves WayOut = 1 << iota
	// ByJump: it leads to a jump. Unless TearsDown is set, too, the row is a guess: the jump may
	// stay in the function.
	ByJump
	// TearsDown: the code is an epilogue from its first instruction on. That takes something of the
	// frame down, or is the return; only more of that, and instructions that do not matter, follow.
	TearsDown
)

// Exits are the ways in which code can leave its function; none, where it ends in a trap, in
// a loop or in a call that does not return.
type Exits uint8

const (
	Returns  Exits = 1 << iota // by a return, or by what may be one: a computed jump, code that cannot be read
	Jumps                      // by a jump to another function, which may return
	Computed                   // by a jump to where a register or memory says, perhaps; Returns is set, too
)

// Relocations are a processor's numbers of the relocations that the dynamic linker makes of words of
// data (System V ABI, the processor's supplement).
type Relocations struct {
	JumpSlot  uint32 // the address of a function that a linkage stub jumps to
	GlobDat   uint32 // the address of a symbol
	Relative  uint32 // base address + addend, without a symbol
	IRelative uint32 // the address that the function at base address + addend returns
}

// FrameRecord says where a function with a frame pointer has saved what, in bytes from the frame pointer.
type FrameRecord struct {
	FP      trad.Reg // the frame pointer
	SavedFP int32    // of PREVIOUS's frame pointer
	SavedRA int32    // of the return address
	CFA     int32    // the CFA itself
}

// RegInfo names a register.
type RegInfo struct {
	Num  trad.Reg
	Name string
	Bits int // width: 64, or less for flags and selectors of segments
}

// Trampoline is one form of a signal trampoline: its machine code, and the frame
// that the kernel has made for it.
type Trampoline struct {
	Code    []byte
	PCs     []int    // offsets into Code at which a PC can stand, ascending
	Symbols []string // names of such code, for where it cannot be read
	// Row is the row of such code that occupies [lo, lo+n).
	Row func(lo uint64, n uint32) trad.Row
	// OnStack reports whether what is at SP can only be the frame that the kernel has made
	// for such code, whatever the code is. word reads the word at a distance from SP.
	OnStack func(sp uint64, word func(off int) uint64) bool
}

// InnerThan reports whether stack address a belongs to an inner (newer) frame
// than b. Stacks of all supported architectures grow towards lower addresses.
func (a *Arch) InnerThan(x, y uint64) bool { return x < y }

// FrameAlign returns the nearest address, at sp or inner to it, that the ABI
// allows as SP at a call.
func (a *Arch) FrameAlign(sp uint64) uint64 { return sp &^ uint64(a.StackAlign-1) }

// UnwindPC returns the PC of a frame whose registers prev gives, without
// authentication bits; ok is false where it is not known.
func (a *Arch) UnwindPC(prev trad.Env) (pc uint64, ok bool) {
	pc, ok = prev.Register(a.PC)
	return a.CodeAddress(pc), ok
}

// UnwindSP returns the SP of a frame whose registers prev gives.
func (a *Arch) UnwindSP(prev trad.Env) (sp uint64, ok bool) { return prev.Register(a.SP) }

// CodeAddress strips what is not address from a code pointer.
func (a *Arch) CodeAddress(v uint64) uint64 { return v & a.AddressMask }

// WithAddressMask returns the descriptor for a target that knows which bits of
// its code addresses are address.
func (a *Arch) WithAddressMask(mask uint64) *Arch {
	if mask == a.AddressMask {
		return a
	}
	other := *a
	other.AddressMask = mask
	return &other
}

// WithPACMask returns the descriptor for a process whose code addresses may have a
// pointer authentication code in the bits of mask, as NT_ARM_PAC_MASK's insn_mask
// and gdb's pauth_cmask tell; 0 is for a target that does not tell. Bit 55 tells
// the halves of the address space apart, and processes have the lower.
func (a *Arch) WithPACMask(mask uint64) *Arch {
	if mask == 0 {
		return a
	}
	return a.WithAddressMask(^mask & (1<<55 - 1))
}

// Index returns the position of register r in Regs, -1 if it is not there.
func (a *Arch) Index(r trad.Reg) int {
	if r >= MaxReg {
		return -1
	}
	return int(a.index[r]) - 1
}

// OtherCalleeSavedIndex returns a number below [MaxOtherCalleeSaved] for a callee-saved register other than
// PC, SP and FP; -1 for any other.
func (a *Arch) OtherCalleeSavedIndex(r trad.Reg) int {
	if r >= MaxReg {
		return -1
	}
	return int(a.kept[r]) - 1
}

// Narrow returns the value v of register r without the bits that r does not have: what
// a processor leaves there is undefined.
func (a *Arch) Narrow(r trad.Reg, v uint64) uint64 {
	if r >= MaxReg || a.spare[r] == 0 {
		return v
	}
	return v & (1<<(64-a.spare[r]) - 1)
}

// Saved returns the value of register r that is saved where word is the word in memory:
// a register that is narrower than that comes first.
func (a *Arch) Saved(r trad.Reg, word uint64) uint64 {
	if r >= MaxReg || a.spare[r] == 0 {
		return word
	}
	if unused := a.spare[r] - uint8(64-8*a.PtrSize); a.bigEndian() && unused < 64 {
		return word >> unused
	}
	return a.Narrow(r, word)
}

// RegName returns the name of register r, "r17" style for an unnamed one.
func (a *Arch) RegName(r trad.Reg) string {
	if i := a.Index(r); i >= 0 {
		return a.Regs[i].Name
	}
	return "r" + strconv.Itoa(int(r))
}

// Handlers are how libgcc's unwinder goes on at a handler of exceptions.
type Handlers struct {
	// Data are the registers in which a handler gets its data (EH_RETURN_DATA_REGNO of gcc), which calls need not preserve.
	// Only functions that go on at a handler save them all.
	Data []trad.Reg
	// Registers is how many registers' places a struct _Unwind_Context begins with (libgcc's unwind-dw2.c).
	Registers int
}
