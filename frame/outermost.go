package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Where a stack ends, in other ways than a row's word:
//
//   - Run-time systems begin a coroutine by a jump, and plant what its first function is to
//     return to: code that ends the coroutine and never returns itself. THIS runs there, and no
//     call has left its PC.
//   - They plant a zero, and the first function never returns, or there is no stack beyond.
//   - The ABI has the outermost frame record be zero. Where nobody can unwind the function
//     that begins a thread, the chain's end and its never returning tell.

const (
	maxBottom = 4 << 10 // of a function is read to see whether it returns, bytes
	fewCode   = 64      // where it is not known to where the function goes
)

// planted reports whether THIS is code that a run-time system has planted as a return
// address, and that does not return. Code that is planted in place of a return address, to be
// told of the return, does.
func (f *Frame) planted() bool {
	s := f.stack
	if !f.caller || f.nextSummary().typ != Normal || s.modules.Find(f.pc) == nil || f.query().mayBeCalled() {
		return false
	}
	lo, by := f.exitsOnward(f.pc)
	// A whole function may end in a jump to another, as to exit; a return it does itself.
	return by == 0 || by == arch.Jumps && f.pc == lo
}

// begins reports whether THIS is at the first instruction of a function that nobody has
// called: run-time systems begin a coroutine by a return to it.
func (f *Frame) begins() bool {
	q := f.query()
	return f.nextSummary().typ == Normal && !q.mayBeCalled() && q.FunctionBegins(f.pc)
}

// mayBeCalled reports whether a call may have left q.PC as its return address: one stands
// before it, or what does cannot be read.
func (q *Query) mayBeCalled() bool {
	if q.PC < arch.MaxCall || q.Arch.AfterCall == nil {
		return true
	}
	before := q.Read(q.PC-arch.MaxCall, arch.MaxCall)
	return len(before) < arch.MaxCall || q.Arch.AfterCall(before)
}

// exitsOnward says how the function that begins at lo, and that an address in block is in, can be
// left from PC on.
func (f *Frame) exitsOnward(block uint64) (lo uint64, by arch.Exits) {
	lo, hi, ok := f.bounds(block)
	if ok {
		return lo, f.exits(lo, hi, f.pc)
	}
	// Where the function ends is not known. A call at the end of what is looked at may return;
	// of two such calls there are not both.
	return 0, f.exits(f.pc, f.pc+fewCode, f.pc) | f.exits(f.pc, f.pc+fewCode/2, f.pc)
}

// makeOutermost makes THIS, which is planted, the outermost frame. Its PC is where it begins.
func (f *Frame) makeOutermost() {
	f.winner, f.cfa, f.typ, f.byUnwinder = -1, 0, Normal, false
	f.claimReason, f.claimErr = Outermost, nil
	f.caller = false
}

// beganThread reports whether THIS, which nobody can unwind, has begun a thread: it has put a
// zero where the ABI has the end of the chain of frames, and it never returns.
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
	_, by := f.exitsOnward(f.AddressInBlock())
	return by == 0
}

// zeroEndsStack reports whether a zero return address marks the end of the stack
// and is no damage.
func (f *Frame) zeroEndsStack(fp Value) bool {
	// Only a row that was read off the chain of frame records itself (it is true
	// once) speaks of that; tables mark the outermost frame in their own way.
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
	m := f.Module()
	if m == nil {
		return false
	}
	lo, hi, ok := f.bounds(f.AddressInBlock())
	if f.caller && ok && lo == f.AddressInBlock() {
		return true // as Go's run time plants it: no call is at a function's first byte
	}
	if im, bias, err := m.Image(); err == nil && !f.caller && im.Entry != 0 && f.pc-bias == im.Entry {
		return true // the kernel starts programs there
	}
	return ok && f.exits(lo, hi, lo) == 0
}

// exits says how the function at [lo, hi) can be left from an address in it on. Where its
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

// bounds returns the range of the function that an address is in, as symbols or tables
// have it.
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
