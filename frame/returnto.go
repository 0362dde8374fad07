package frame

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// FollowsCall reports whether a call stands before ra. known is false if the code there cannot be
// read.
func (q *Query) FollowsCall(ra uint64) (follows, known bool) {
	code := q.Read(ra-arch.MaxCall, arch.MaxCall)
	if len(code) < arch.MaxCall || q.Arch.AfterCall == nil {
		return false, false
	}
	return q.Arch.AfterCall(code), true
}

// MayFollowCall reports whether a call stands before ra, or what stands there cannot be read.
func (q *Query) MayFollowCall(ra uint64) bool {
	follows, known := q.FollowsCall(ra)
	return follows || !known
}

// CallTarget returns where the call before the return address ra goes. ok is false if the call does
// not tell, or cannot be read.
func (q *Query) CallTarget(ra uint64) (to uint64, ok bool) {
	code := q.Read(ra-arch.MaxCall, arch.MaxCall)
	if len(code) < arch.MaxCall || q.Arch.CallTarget == nil {
		return 0, false
	}
	return q.Arch.CallTarget(code, ra)
}

// LinkRow returns the row of a THIS whose return address is still in the link register, as a guess.
// Nothing tells how large THIS frame is: if a part of it may lie inward of the frame record,
// PREVIOUS's SP is not tracked.
func (q *Query) LinkRow() trad.Row {
	a := q.Arch
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: -int32(a.SPFromCFA)},
		RA:  trad.Rule{Kind: trad.Same},
		FP:  trad.Rule{Kind: trad.Same},
	}
	if a.FrameRecordAnywhere {
		row.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: a.SP}}}
	}
	return row
}

// maxTrampoline is how many bytes of code are compared with the code of signal trampolines.
const maxTrampoline = 16

// MayReturnTo reports whether a function may return to pc. It may if a call stands before pc, or if
// what stands there cannot be read, or if a signal trampoline begins at pc. It also may if a
// function begins at pc: run-time systems plant such an address as the outermost return address.
func (q *Query) MayReturnTo(pc uint64) bool {
	if !q.Modules.IsCode(pc-1) && !q.Modules.IsCode(pc) {
		return false
	}
	if q.MayFollowCall(pc) || q.FunctionBegins(pc) || q.AmongV8Exits(pc) {
		return true
	}
	code := q.Read(pc, maxTrampoline)
	for i := range q.Arch.Trampolines {
		if bytes.HasPrefix(code, q.Arch.Trampolines[i].Code) {
			return true
		}
	}
	return false
}

// AmongV8Exits reports whether there is an exit to V8's deoptimizer at pc, next to another one. V8
// has functions return there if their caller's code is not valid any more.
func (q *Query) AmongV8Exits(pc uint64) bool {
	exit := q.Arch.V8Exit
	if exit == nil || q.Modules.Find(pc) != nil {
		return false
	}
	code := q.Read(pc, 2*arch.MaxV8Exit)
	n := exit(code)
	return n > 0 && (exit(code[n:]) == n || exit(q.Read(pc-uint64(n), n)) == n)
}

// maxStraight is how many bytes of a called function are read for straight code that leads to a
// jump.
const maxStraight = 64

// MayHaveLedHere reports whether the call before a return address may have led to THIS. It may have
// if it does not tell where it goes; if it goes to the function that THIS is in; or if it goes to
// straight code that ends in a jump, such as a linkage stub, or the way of a run-time system into
// code that it has made.
func (q *Query) MayHaveLedHere(ra uint64) bool {
	to, ok := q.CallTarget(ra)
	if !ok {
		return true
	}
	if lo, hi, known := q.FunctionAt(to); known && lo == to && to <= q.AddressInBlock && q.AddressInBlock < hi {
		return true
	}
	return q.Passes(to)
}

// Passes reports whether straight code leads from an address to a jump, with the stack as it was.
func (q *Query) Passes(from uint64) bool {
	if q.Arch.ReadEpilogue == nil {
		return false
	}
	_, out := q.Arch.ReadEpilogue(q.Read(from, maxStraight), from)
	return out&arch.ByJump != 0 && out&arch.TearsDown == 0
}

// maxJumpsOn is how many bytes of a function are read for a computed jump.
const maxJumpsOn = 1 << 10

// JumpsOn reports whether the function at an address may leave by a jump to where a register or
// memory says. A function that looks up code of a run-time system, and goes on there, leaves so.
func (q *Query) JumpsOn(function uint64) bool {
	lo, hi, ok := q.FunctionAt(function)
	if !ok || lo != function || hi-lo > maxJumpsOn || q.Arch.Exits == nil {
		return false
	}
	code := make([]byte, hi-lo)
	if n, _ := q.Memory.ReadMemory(lo, code); n < len(code) {
		return false
	}
	return q.Arch.Exits(code, 0)&arch.Computed != 0
}

// OnStack reports whether an address is in the executable memory that the stack of THIS is in, too.
// Some run-time systems let their stacks be executable (SBCL): there, an address on the stack looks
// like one of code. A guess does not count on it.
func (q *Query) OnStack(addr uint64) bool {
	sp := q.This.Register(q.Arch.SP)
	if !sp.Known() || !q.Modules.IsCode(sp.Bits) {
		return false
	}
	end := q.Modules.CodeEnd(sp.Bits)
	return end != ^uint64(0) && addr-sp.Bits < end-sp.Bits
}
