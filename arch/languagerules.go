package arch

import (
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// LanguageRules say what C and C++ are on the processor: calls, types, exceptions, thread-local
// storage.
type LanguageRules struct {
	// Handlers says what is known of libgcc's unwinder. It is zero if calls preserve the registers
	// in which handlers get their data.
	Handlers Handlers
	// ThreadPointer are the registers that together hold the address of a thread's own storage, the
	// one with the upper bits first.
	ThreadPointer []trad.Reg
	// JavaInterpreter is what HotSpot's interpreter keeps in registers; nil if that is not known.
	JavaInterpreter *JavaInterpreter
	// JavaColours is whether the colours of references of HotSpot's generational ZGC have more than
	// one length, each said by the colour itself.
	JavaColours bool
	// Mono is whether the code of Mono's functions that read one field is known for the processor.
	Mono bool
	// CoreCLR is whether .NET's code for the processor has amd64's unwind codes of Windows.
	CoreCLR bool
	// V8 is whether the layouts of V8's frames and objects that are known are the processor's.
	V8 bool
	// RubyThreads is whether the layouts of Ruby's records of threads that are known are the
	// processor's: they contain structures of the C library.
	RubyThreads bool
	// RContexts is whether the layout of R's contexts that is known is the processor's: they
	// contain a structure of the C library.
	RContexts bool
	// BoostFibers is whether the layout of what Boost.Context saves of a fiber that is known is the
	// processor's.
	BoostFibers bool
	// Zend is what PHP's interpreter keeps in registers; nil if that is not known.
	Zend *ZendVM
	// Erlang is what the code of Erlang's compiler keeps in registers; nil if that is not known.
	Erlang *ErlangCode
	// Makes returns the offsets of the instructions of code, which begins at address start, that
	// make an address: a function that no symbol names is found by a text of its own. It is nil if
	// such instructions are not known.
	Makes func(code []byte, start, address uint64) []int
	// ErlangVM is what Erlang's interpreter keeps in registers; nil if that is not known.
	ErlangVM *ErlangVM
	// SBCL says where the frame of a function that SBCL has compiled is at an instruction. code
	// surrounds the instruction, which is at offset at. It is nil if that is not known.
	SBCL func(code []byte, at int) SBCLMoment
	// SBCLGate is how the functions of C begin by which SBCL has C call Lisp.
	SBCLGate SBCLGate
	// SBCLValues is how SBCL's routines RETURN-MULTIPLE and RETURN-VALUES-LIST return.
	SBCLValues SBCLValues
	// LuaJIT is what LuaJIT's virtual machine keeps in registers and on the stack; nil if that is
	// not known.
	LuaJIT *LuaJITMachine
	// YJIT is what the code of YJIT, Ruby's compiler, keeps in registers and on the stack; nil if
	// that is not known.
	YJIT *YJITCode
	// V8Exit reads an exit to V8's deoptimizer, as many stand behind optimized code. It returns how
	// long the exit is, in bytes; 0 if code does not begin with one. code has [MaxV8Exit] bytes, or
	// what there is. It is nil if exits are not known.
	V8Exit func(code []byte) (n int)
	// PyPy is the frame of the code that PyPy's compiler makes; nil if that is not known.
	PyPy *PyPyFrame
	// Chez is what the code of Chez Scheme's compiler keeps in registers; nil if that is not known.
	Chez *ChezCode
	// ThreadBlock is how many bytes at that address are the C library's own, where a program's
	// thread-local variables follow them (variant I of ELF's handling of thread-local storage). It
	// is 0 where the variables end at the address (variant II).
	ThreadBlock uint64
	// Calls is the calling convention of C and C++. LongDouble is the kind of C's long double.
	Calls      abi.Convention
	LongDouble abi.Kind
	// VectorBytes returns abi.Func.VectorBytes of functions whose compiler has recorded a text
	// (DW_AT_producer) with its options; known is false if that does not tell. It is nil where no
	// option matters.
	VectorBytes func(producer string) (n uint64, known bool)
	// VectorCode returns what the code of a function tells of that: the function may have been
	// compiled for another processor than its file (__attribute__((target))). ok is false if the
	// code contradicts itself, or cannot be decoded. It is nil where code tells nothing.
	VectorCode func(code []byte) (c VectorCode, ok bool)
	// MaxAlign is the greatest alignment of C's numbers and pointers within a struct, in bytes:
	// smaller ones are aligned to their own size. WideVariables says that variables and buffers of
	// 8 bytes are aligned to 8 even if MaxAlign is less.
	MaxAlign      uint64
	WideVariables bool
	// VirtualInAdjustment says that a C++ pointer to a virtual method is marked in the lowest bit
	// of its second word, and not of its first, which may be the address of Thumb code (the C++ ABI
	// for Arm, section 3.2.1).
	VirtualInAdjustment bool
	// PackedDecimals says that decimal floating-point numbers have their digits in groups of ten
	// bits (DPD), and not as a binary number (BID).
	PackedDecimals bool
	// CharSigned says that C's char is signed. ResolverFeatures says that the function that returns
	// another one's address (STT_GNU_IFUNC) takes the processor's features (AT_HWCAP).
	CharSigned, ResolverFeatures bool
}

// Handlers are how libgcc's unwinder goes on at a handler of exceptions.
type Handlers struct {
	// Data are the registers in which a handler gets its data (EH_RETURN_DATA_REGNO of gcc), which
	// calls need not preserve. Only functions that go on at a handler save them all.
	Data []trad.Reg
	// Registers is how many registers' places a struct _Unwind_Context begins with (libgcc's
	// unwind-dw2.c).
	Registers int
}

// JavaInterpreter has the registers of HotSpot's interpreter, as its sources for the processor name
// them. But for Thread, they hold what their names say in some of the code only.
type JavaInterpreter struct {
	Bytecode trad.Reg // the address of the bytecode that runs: rbcp, r13
	Method   trad.Reg // the method, while its frame is made: rmethod, rbx
	Sender   trad.Reg // the caller's stack pointer, until it is saved in the frame: r13; NoReg if releases differ
	Thread   trad.Reg // the thread's record, in all code that the virtual machine makes: r15_thread

	// SenderSlot is where an interpreted frame has saved Sender, in words from its frame pointer,
	// if the virtual machine's tables do not say, as of JDK 8 and on arm64:
	// frame::interpreter_frame_sender_sp_offset.
	SenderSlot int64
	// WrapperSlot is where the frame by which C++ has called Java leads to the JavaCallWrapper, in
	// words from its frame pointer on, likewise: frame::entry_frame_call_wrapper_offset.
	WrapperSlot int64
	// Between is how many words an interpreted frame has between its method and its variables'
	// place, from JDK 9 on: frame::interpreter_frame_locals_offset is -4-Between. The bytecode's
	// place comes next.
	Between int
}

// ZendVM has the registers of PHP's interpreter, as gcc builds it, and of the code that its
// compiler makes (ZEND_VM_FP_GLOBAL_REG, ZEND_VM_IP_GLOBAL_REG).
type ZendVM struct {
	Call        trad.Reg // the record of the call that runs, an execute_data
	Instruction trad.Reg // the instruction, an opline; compiled code does not always keep it
	// ThreadKey returns the address of the variable from which the code of tsrm_get_ls_cache, which
	// begins at address start, loads a key of pthread_getspecific. It is nil if the code is not
	// known.
	ThreadKey func(code []byte, start uint64) (variable uint64, ok bool)
}

// ErlangVM has the registers of Erlang's interpreter, as gcc builds it (REG_I, REG_stop).
type ErlangVM struct {
	Instruction trad.Reg // the instruction that runs
	Stack       trad.Reg // the stack of the process
}

// ErlangCode has the registers of the code that Erlang's run time system compiles, as its sources
// for the processor name them. The stack pointer is the one of the Erlang process, but in code that
// calls C: that has changed to the stack of the thread.
type ErlangCode struct {
	Registers trad.Reg // where the thread has Erlang's registers, at x_reg_array: rbx
	Process   trad.Reg // the Erlang process: r13
	Saved     trad.Reg // Erlang's stack pointer, while the code calls C, unless the process's record has it: rbp
	// ToC finds the last instruction in code that changes to the stack of the thread. That stack
	// ends inward, bytes from Registers. code ends where C was called, or may be. It returns the
	// offset of the instruction, and whether Saved has Erlang's stack pointer from there on.
	ToC func(code []byte, inward uint64) (at int, saved, ok bool)
}

// SBCLGate describes the beginning of functions that call Lisp: they make a frame record, and save
// registers below it.
type SBCLGate struct {
	Saved  []trad.Reg // ascending, in the order in which they are saved
	Begins func(code []byte) bool
}

// SBCLValues describes routines that return more values than fit into registers: they move them to
// where the caller's frame ends, over their own frame record.
type SBCLValues struct {
	CFA trad.Reg // has the CFA while they move them
	// Moves reports whether one moves them at offset at of its code, and which register has the
	// return address then.
	Moves func(code []byte, at int) (ra trad.Reg, ok bool)
}

// An SBCLMoment says where the frame record of a function is that SBCL has compiled: the caller's
// frame pointer, and the return address behind it. The caller makes the record, the callee puts the
// return address there.
type SBCLMoment uint8

const (
	SBCLRuns    SBCLMoment = iota // the frame pointer leads to the record
	SBCLEntered                   // it does, but the return address is still where the call has pushed it
	SBCLCalls                     // it leads to the record of a function that is about to be called, and the caller's frame pointer there to this one's
	SBCLLeft                      // the caller's frame pointer is back, the return address is on top of the stack
	SBCLReturns                   // the caller's frame pointer is back, the return address still in its place, and SBCLValues.CFA has the CFA
)

// LuaJITMachine has the registers of LuaJIT's virtual machine, and its frame on the C stack, as its
// sources for the processor name them (vm_*.dasc, lj_frame.h).
type LuaJITMachine struct {
	Base  trad.Reg // the slots of the function that runs: BASE
	PC    trad.Reg // the instruction that runs next
	Spare trad.Reg // where the machine keeps Base while it calls C that changes no state; NoReg if Base itself stays
	// CFA is the rule for the CFA of the frame, and Size the frame's size, bytes: from its stack
	// pointer up to the CFA.
	CFA  trad.Rule
	Size uint64
	Unit uint64 // in which places in compiled code are counted, bytes
	// Frames says where the frame has its parts, in the order of releases, the newest first.
	Frames []LuaJITFrame
	// Saved has the registers that traces save in the frame, beside the ones that the machine's own
	// table has, by their places from the CFA on.
	Saved []trad.RegRule
	// Exit and Exited are what the code begins and ends with that leaves a trace: up to there the
	// stack pointer is inward of the frame's. Both are nil if CFA is not by the stack pointer.
	Exit, Exited []byte
	// ExitBase is where that code has saved the trace's register for Base, from the stack pointer
	// on, while it calls C.
	ExitBase uint64
	// Global has the address of the machine's dispatch table, or of its global_State, in traces.
	// Stores reports whether code stores a register off bytes from there.
	Global trad.Reg
	Stores func(code []byte, off int32) bool
	// Link is the instruction that stores the return address of a call in the new function's slots,
	// Unlink the one that loads it when the function returns, and Next the last one of the code for
	// an instruction of Lua. Back takes Base back to the caller's slots; nil if that is not known.
	Link, Unlink, Back, Next []byte
}

// LuaJITFrame is where a frame of LuaJIT's virtual machine has its parts: offsets from its stack
// pointer, bytes.
type LuaJITFrame struct {
	State    uint64 // the lua_State: CFRAME_OFS_L
	PC       uint64 // CFRAME_OFS_PC
	Previous uint64 // the frame before, of the same state: CFRAME_OFS_PREV
	Results  uint64 // how many results are wanted, or where the state's stack ended: CFRAME_OFS_NRES
}

// YJITCode has the registers of YJIT's code, as its sources for the processor name them.
type YJITCode struct {
	Context trad.Reg // the execution context: EC
	Frame   trad.Reg // the control frame: CFP
	// Saved are the registers that it saves where C enters it, in that order.
	Saved []trad.Reg
}

// MaxV8Exit is the length of the longest exit that [Arch.V8Exit] reads, in bytes.
const MaxV8Exit = 7

// PyPyFrame is the frame of the code that PyPy's compiler makes, on the C stack: all have one size.
// Each has a record in it, by which PyPy's profiler finds the frame.
type PyPyFrame struct {
	// CFA and Record are the distances of the CFA and of the record from the frame's stack pointer.
	CFA, Record uint64
	// Saved says where the caller's registers are, from the CFA on, in the order in which they are
	// saved. Saves is the distance of its frame pointer from the frame's stack pointer.
	Saved []trad.RegRule
	Saves uint64
	// Begin are the instructions that make room for the frame and save the frame pointer: the first
	// Room bytes make the room. Stores has how many bytes from their start on each register of
	// Saved is saved.
	Begin  []byte
	Room   uint64
	Stores []uint64
	Return []byte // the instruction that returns, when the room is given back
}

// ChezCode has the registers of the code of Chez Scheme's compiler, as its sources for the
// processor name them.
type ChezCode struct {
	Context trad.Reg // the record of the thread: tc
	Stack   trad.Reg // the frame of the procedure, on Scheme's stack: sfp
	// Inward returns how many bytes the frame to which Stack leads is inward of the one of the
	// procedure that runs at offset at of code: it moves Stack before it calls another one, and has
	// it back some time after that has returned. code has Reach bytes before and behind.
	Inward func(code []byte, at int) uint64
	Reach  uint64
}
