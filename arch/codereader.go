package arch

import "github.com/sfwalk/sfwalk/trad"

// CodeReader reads machine code: what its functions do to registers and stack, and where its calls
// go.
type CodeReader struct {
	// ReadFrame finds the row for pc by reading machine code, where no unwind table describes it.
	// code holds the function's bytes from its entry, at address start, to beyond pc. The row is
	// exact for pc and covers one instruction. Where there is none, why is a constant sentence that
	// says so. steps is how many instructions ReadFrame has followed. Instructions in loops count
	// several times.
	ReadFrame func(code []byte, start, pc uint64) (row trad.Row, steps int, why string)
	// ReadSplit is ReadFrame for a function in two parts. In the second one a row is a guess
	// unless a way leads there from the entry.
	ReadSplit func(code *SplitFunction, pc uint64) (row trad.Row, steps int, why string)
	// ReadReached is ReadFrame for a start that may be no entry. It takes far less time, for it
	// does not guess at code that the flow of control from start does not reach.
	ReadReached func(code []byte, start, pc uint64) (row trad.Row, steps int, why string)
	// ReadRounded is ReadReached for a function that has rounded its stack pointer down to a
	// multiple of align, and keeps nowhere what it was, as code does that never returns. The row's
	// CFA is the innermost one that THIS can have. The true one lies outward of it, by less than
	// align. align is 0, and the row empty, if the code from start to pc is none of such a
	// function. ReadRounded is nil where a call does not push the return address: it would not tell
	// the right CFA from others.
	ReadRounded func(code []byte, start, pc uint64) (row trad.Row, align uint32, steps int)
	// JumpsAway returns the targets of the direct jumps in code, from the instruction at address
	// start on, that lead out of the code. Data in the code may yield targets, too. It is nil where
	// ReadRounded is.
	JumpsAway func(code []byte, start uint64) (targets []uint64, steps int)
	// ReadEpilogue follows straight code from pc, at which code begins, to where it leaves the
	// function, and returns the row for pc. out is 0, and the row empty, where the code does not
	// lead there, or does more on the way than an epilogue does. It needs no function start.
	ReadEpilogue func(code []byte, pc uint64) (row trad.Row, out WayOut)
	// ReadAhead follows the code from pc forward to where it returns, where nobody knows at which
	// address its function begins. code surrounds pc, and begins at address start; away, which may
	// be nil, returns the code around the target of a jump, or nothing. ReadAhead yields a row of
	// one instruction for each way out, the surest first, until yield returns false; calls is how
	// many calls must come back on the way. A row is true if control can take its way. It is marked
	// as a guess if the way does not end in a return. If straight code leads to the end of the
	// thread, the row says that the frame is the outermost. steps is how many instructions
	// ReadAhead has followed.
	ReadAhead func(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64), yield func(row trad.Row, calls int) bool) (steps int)
	// FindsFrame reports whether the code from pc on finds its frame by the frame pointer that
	// there is at pc: the code loads or stores what lies inward of there, or sets the stack pointer
	// so. Then the frame record at the frame pointer is the one of the function. code, start and
	// away are as for ReadAhead. steps is how many instructions FindsFrame has followed. It is nil
	// where frame records do not lie at the outer end of frames.
	FindsFrame func(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64)) (finds bool, steps int)
	// Preserves returns the registers that the function at entry leaves alone although the ABI
	// lets it change them: neither its instructions write them nor the functions that it calls.
	// There are none unless all of that code can be followed to its returns, and pc is in it. code
	// surrounds entry and pc, and begins at address start. steps is how many instructions
	// Preserves has followed.
	Preserves func(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int)
	// LoadsSP reports whether straight code, with calls or without, loads the stack pointer from
	// the stack that it points to: the code goes back to a stack that it has left. [MaxLoadSP]
	// bytes are enough. It is nil where every function does so.
	LoadsSP func(code []byte) bool
	// RunOn executes the code from pc on as the processor will, with a copy of the registers and
	// of memory, until the function returns, or a frame record is made in its place. So the row
	// says where the return address and the caller's registers are now, wherever the code moves
	// them. It is true for this one moment. Its Len is 0 if a function that the code calls makes a
	// frame record, if the code does what is not known here, or if it does so for more than limit
	// instructions. register returns a register at pc, read reads memory. returns reports whether
	// the function has returned. steps is how many instructions were executed. called says that
	// the call before pc is executed first: that may lead to a function that makes the record of
	// the one that has called it. Few registers are known there: each way that can be followed
	// counts, and all must say the same. RunOn is nil where that is not known.
	RunOn func(pc uint64, called bool, limit int, register func(r trad.Reg) (v uint64, ok bool), read func(addr uint64, p []byte) bool) (row trad.Row, returns bool, steps int)
	// GoesOn yields the addresses of the instructions that control can take from pc on, of one way:
	// on behind calls and branches, and along jumps. The way ends where yield returns false, where
	// the code does not say where control goes, where the code ends, and after 512 instructions.
	// code holds pc, and begins at address start. steps is how many instructions GoesOn has
	// followed. It is nil where no virtual machine is known.
	GoesOn func(code []byte, start, pc uint64, yield func(pc uint64) bool) (steps int)
	// InEpilogue reports whether pc is on a way out that [TearsDown]: at the instruction that the
	// way begins with, or behind it. code holds the function's bytes from its entry, at address
	// start, to beyond pc.
	InEpilogue func(code []byte, start, pc uint64) bool
	// Exits says how the flow of control from offset at of a function's code can leave the
	// function. code ends where the function does: the call at its end does not return.
	Exits func(code []byte, at int) Exits
	// References returns the addresses that code, which begins at address start, refers to
	// relative to itself, in the order of the code: what it loads or stores, or the address of
	// which it takes. Code that is not understood has fewer.
	References func(code []byte, start uint64) []uint64
	// Stores yields the numbers that code stores width bytes of, from 1 to 8, at a displacement
	// from a register which is not the stack pointer, until yield returns false: the offset of
	// the instruction in code, and the number. A store of more bytes counts that has these in it,
	// as compilers merge stores. A number that code computes otherwise than by moving it is left
	// out. It is nil where nobody needs it yet.
	Stores func(code []byte, off int32, width int, yield func(at int, value uint64) bool)
	// Dispatch returns where the number is by which a function chooses what to do, before all else:
	// its displacement in the object to which the first argument points, and its bytes, from 1 to
	// 4. code is the function's, from its entry on. ok is false where the function does not begin
	// so. It is nil where nobody needs it yet.
	Dispatch func(code []byte) (off int32, width int, ok bool)
	// SkipPrologue returns the address of the first instruction after the prologue
	// of the function whose bytes, from its entry at start, are code.
	SkipPrologue func(code []byte, start uint64) uint64
	// AnalyzePrologue returns the address of the first instruction that is not one of the prologue,
	// as GDB's reader of the processor's code has it where no line table tells; start if there is
	// none. It may go on over stores of arguments, which SkipPrologue does not. code and start are
	// as there. It is nil where FrameSetUp tells.
	AnalyzePrologue func(code []byte, start uint64) uint64
	// FrameSetUp returns the address behind the instructions that push the frame pointer and set
	// it, if the function whose bytes, from its entry at start, are code begins with them; else
	// start. It is nil where debuggers take the second line of a function as the end of its
	// prologue, whatever its code.
	FrameSetUp func(code []byte, start uint64) uint64
	// AfterCall reports whether code, which ends at a possible return address, ends
	// with a call instruction. [MaxCall] bytes are enough.
	AfterCall func(code []byte) bool
	// CallTarget returns where the call goes that code, which ends at the return address
	// ra, ends with; ok is false where it does not end with one that says so.
	CallTarget func(code []byte, ra uint64) (target uint64, ok bool)
}

// MaxCall is the length in bytes of the longest call instruction of any
// architecture.
const MaxCall = 8

// MaxLoadSP is how many bytes of code [Arch.LoadsSP] looks at, at most.
const MaxLoadSP = 32

// A WayOut says how straight code leaves its function. It is 0 where the code does not leave.
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
