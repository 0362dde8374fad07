package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// A stack may end although no row says so:
//
//   - Run-time systems begin a coroutine by a jump, and plant the return address of its first
//     function: code that ends the coroutine and never returns itself. Then THIS is that code,
//     and its PC follows no call.
//   - They plant a zero, and the first function never returns, or there is no stack beyond.
//   - The ABI has the outermost frame record be zero. If no sniffer can unwind the function
//     that begins a thread, it is known by the end of the chain, and because it never returns.

const (
	maxBottom = 4 << 10 // bytes: a larger function is not read to see whether it returns
	fewCode   = 64      // bytes that are read if the function's end is not known
)

// planted reports whether a run-time system has planted THIS frame's PC as a return address.
func (f *Frame) planted() bool {
	return f.caller && f.nextSummary().typ == Normal && f.query().MayBePlanted(f.pc)
}

// MayBePlanted reports whether a run-time system may have planted pc as the return address of a
// coroutine's first function: no call stands before it, and the code there never returns. Code that
// is planted in place of another return address, to intercept the return, does return.
func (q *Query) MayBePlanted(pc uint64) bool {
	if q.This == nil || q.Modules.Find(pc) == nil || q.MayFollowCall(pc) {
		return false
	}
	lo, by := q.This.exitsOnward(pc, pc)
	// If pc is a whole function's beginning, it may end in a jump to another function, such as
	// exit.
	return by == 0 || by == arch.Jumps && pc == lo
}

// begins reports whether THIS is at the first instruction of a function, and no call has led
// there. Run-time systems begin a coroutine by a return to its first function.
func (f *Frame) begins() bool {
	q := f.query()
	return f.nextSummary().typ == Normal && !q.MayFollowCall(f.pc) && q.FunctionBegins(f.pc)
}

// exitsOnward says how control can leave the function that block is in from an address in it on. lo
// is where the function begins, 0 if that is not known.
func (f *Frame) exitsOnward(block, from uint64) (lo uint64, by arch.Exits) {
	lo, hi, ok := f.bounds(block)
	if ok {
		return lo, f.exits(lo, hi, from)
	}
	// The function's end is not known, and Exits takes a call at the end of the code for one that
	// does not return. So two lengths are tried: calls end at both hardly ever.
	return 0, f.exits(from, from+fewCode, from) | f.exits(from, from+fewCode/2, from)
}

// makeOutermost makes THIS, which is planted, the outermost frame. Its PC is no return address of a
// call.
func (f *Frame) makeOutermost() {
	f.winner, f.cfa, f.typ, f.byUnwinder = -1, 0, Normal, false
	f.claimReason, f.claimErr = Outermost, nil
	f.caller = false
}

// beganThread reports whether THIS, which no sniffer can unwind, has begun a thread: the chain of
// frames ends there, as the ABI has it, and the function never returns.
func (f *Frame) beganThread() bool {
	s := f.stack
	if !f.caller || f.nextSummary().typ != Normal {
		return false
	}
	if s.arch.BackChainRA != 0 {
		if chain, err := s.readWord(f.sp); !f.spKnown || err != nil || chain != 0 {
			return false
		}
	} else if !f.fp.Known() || f.fp.Bits != 0 {
		return false
	}
	_, by := f.exitsOnward(f.AddressInBlock(), f.pc)
	return by == 0
}

// zeroEndsStack reports whether a zero return address marks the end of the stack, and is not
// a sign of corruption. fp is PREVIOUS's FP.
func (f *Frame) zeroEndsStack(fp Value) bool {
	// Only a row that was made from the frame record itself (it is true once) says that the
	// chain ends; tables mark the outermost frame in their own way.
	if f.row.Flags&trad.Once != 0 && fp.Known() && fp.Bits == 0 {
		return true
	}
	s := f.stack
	const page = 1 << 12 // memory ends where a page does
	if f.ra.Lval == InMemory && s.arch.RAOffset != 0 && f.cfa%page == 0 {
		if _, err := s.readWord(f.cfa); err != nil {
			return true // no stack is left that a caller could be on
		}
	}
	if f.startsProgram() {
		return true
	}
	m := f.Module()
	if m == nil {
		return false
	}
	if m.OpenPE != nil && (s.arch.PtrSize == 8 || fp.Known() && fp.Bits == 0) {
		return true // Windows begins threads so, and its tables do not mark the outermost frame
	}
	lo, hi, ok := f.bounds(f.AddressInBlock())
	if f.caller && ok && lo == f.AddressInBlock() {
		return true // as Go's run time plants it: no call is at a function's first byte
	}
	if im, bias, err := m.Image(); err == nil && !f.caller && im.Entry != 0 && f.pc-bias == s.arch.CodeAddress(im.Entry) {
		return true // the kernel starts programs there
	}
	if !ok {
		return false
	}
	by := f.exits(lo, hi, lo)
	if by != arch.Jumps {
		return by == 0
	}
	// A function that only jumps to another one may end a coroutine so, as D's does, at the end of
	// its memory. The frame pointer is zero there, or points to that end.
	atEnd := f.ra.Lval == InMemory && f.cfa%page == 0
	return atEnd && fp.Known() && (fp.Bits == 0 || fp.Bits == f.cfa)
}

// endsCoroutine reports whether THIS, whose return address is no code, is the function to which the
// first function of a coroutine has returned: no call has led to it, as there is no frame between
// SP and what would be the return address, and it never returns.
func (f *Frame) endsCoroutine() bool {
	s := f.stack
	if s.arch.RAOffset == 0 || f.typ != Normal || !f.ra.Known() || !atEntry(s.arch, &f.row) {
		return false
	}
	lo, hi, ok := f.bounds(f.AddressInBlock())
	return ok && f.exits(lo, hi, lo) == 0
}

// startsProgram reports whether THIS is the function at which a file starts, as the kernel or the
// dynamic linker enters it: by no call, and with the program's arguments on the stack. A compiler
// that does not know that gives the function a table as any other.
func (f *Frame) startsProgram() bool {
	s := f.stack
	m := f.Module()
	if m == nil || f.typ != Normal {
		return false
	}
	im, bias, err := m.Image()
	if err != nil || im.Entry == 0 {
		return false
	}
	entry := s.arch.CodeAddress(im.Entry) + bias
	if lo, _, ok := f.bounds(f.AddressInBlock()); !ok || lo != entry {
		return false
	}
	list := s.arch.Wrap(f.cfa + uint64(s.arch.SPFromCFA) + uint64(s.arch.RAOffset))
	_, ok := s.query.Arguments(list, func(uint64) bool { return true })
	return ok
}

// exits says how control can leave the function at [lo, hi) from an address in it on. If the
// code cannot be read, it may return.
func (f *Frame) exits(lo, hi, from uint64) arch.Exits {
	s := f.stack
	if from < lo || from > hi || hi-lo > maxBottom || s.arch.Exits == nil {
		return arch.Returns
	}
	code := make([]byte, hi-lo)
	if n, _ := s.window.memory.ReadMemory(lo, code); n < len(code) {
		return arch.Returns
	}
	return s.arch.Exits(code, int(from-lo))
}

// bounds returns the range of the function that an address is in, by symbols or tables.
func (f *Frame) bounds(at uint64) (lo, hi uint64, ok bool) { return f.query().function(at) }

// function is [Frame.bounds] for a query.
func (q *Query) function(at uint64) (lo, hi uint64, ok bool) {
	m := q.Modules.Find(at)
	if m == nil {
		return 0, 0, false
	}
	if lo, hi, ok = m.Function(at); ok {
		return lo, hi, ok
	}
	there := *q
	there.AddressInBlock, there.Module = at, m
	for _, x := range q.This.stack.table.sniffers {
		if b, is := x.(BoundsSniffer); is {
			if lo, hi, ok = b.FunctionBounds(&there); ok {
				return lo, hi, true
			}
		}
	}
	return 0, 0, false
}
