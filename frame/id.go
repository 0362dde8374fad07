package frame

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
)

// ID identifies a frame for as long as it lives, through stops and steps: equal
// IDs mean the same frame (GDB's struct frame_id). A function that was tail-called has
// the stack address of the function that jumped to it, and a code address of its own. The frame of
// the function that jumped is laid over the other one's: see TailCalled.
//
// The parts of one function (foo and foo.cold) have one code address if symbols name them.
// In a stripped file nothing tells that two FDEs are of one function. There the
// code address, and so the ID, changes when control goes from one part to the other.
type ID struct {
	Stack   uint64 // the frame's CFA: constant while the function runs
	Code    uint64 // the function's first address
	Special uint64 // tells frames with equal Stack and Code apart (s390x's, ia64's second stack)
	Depth   int    // how many inlined calls deep the frame is in its physical frame; 0 for the physical frame
	Tail    int    // for a frame that left by a tail call: how many such calls the frames further out have made, and it; else 0

	Has IDParts // which of the addresses are known
}

// IDParts says which addresses of an ID are known.
type IDParts uint8

const (
	HasStack IDParts = 1 << iota
	HasCode
	HasSpecial
)

// Inlined returns the ID of the depth-th call (1 is the outermost) that is inlined
// into the frame with ID a. code is the address where the inlined code begins.
func (a ID) Inlined(depth int, code uint64) ID {
	a.Depth = depth
	a.Code, a.Has = code, a.Has|HasCode
	return a
}

// TailCalled returns the ID of a frame that has left by a tail call, which has led to the physical
// frame with ID a. n says how many tail calls there were from the function that was called to this
// one (1 is the outermost), as GDB counts. Then the IDs of outer frames stay as they are if the
// physical frame jumps on. pc is the address behind the jump; as in GDB, it is the ID's code
// address.
func (a ID) TailCalled(n int, pc uint64) ID {
	a.Depth, a.Tail = 0, n
	a.Code, a.Has = pc, a.Has|HasCode
	return a
}

// Null reports whether the ID identifies nothing.
func (a ID) Null() bool { return a.Has == 0 }

// Equal reports whether a and b identify the same frame. If one of them lacks a code address or
// a special address, the other's does not matter. A null ID equals none, not even itself.
func (a ID) Equal(b ID) bool {
	if a.Null() || b.Null() || a.Has&HasStack != b.Has&HasStack || a.Depth != b.Depth || a.Tail != b.Tail {
		return false
	}
	both := a.Has & b.Has
	return (both&HasStack == 0 || a.Stack == b.Stack) &&
		(both&HasCode == 0 || a.Code == b.Code) &&
		(both&HasSpecial == 0 || a.Special == b.Special)
}

// Within reports whether the code of the function or inlined call that begins at address inner is
// the code that begins at outer, or part of it.
// [github.com/sfwalk/sfwalk/symbol.Symbolizer.InlinedInto] can tell.
type Within func(inner, outer uint64) bool

// Inner reports whether a is strictly inner to (newer than) b, as GDB's frame_id_inner does. If the
// stack addresses are equal, a is inner if its call is inlined deeper than b's, into the same
// frame, and within b's code; or if b left by a tail call, and a is the frame to which that has
// led, or left later. If a code address is not known, neither is inner. If within is nil, a's code
// is within b's only if the addresses are equal. Functions that need no stack have equal stack
// addresses, too: neither is inner.
func (a ID) Inner(b ID, on *arch.Arch, within Within) bool {
	switch {
	case a.Has&b.Has&HasStack == 0:
		return false
	case a.Stack != b.Stack:
		return on.InnerThan(a.Stack, b.Stack)
	case a.Tail != b.Tail:
		return b.Tail != 0 && (a.Tail == 0 || a.Tail > b.Tail)
	case a.Depth <= b.Depth || a.Has != b.Has || a.Special != b.Special || a.Has&HasCode == 0:
		return false
	}
	return a.Code == b.Code || within != nil && within(a.Code, b.Code)
}

// String renders the ID as GDB does: {stack=0x…,code=0x…,!special}. GDB calls both Depth and Tail
// "artificial".
func (a ID) String() string {
	part := func(name string, has IDParts, v uint64) string {
		if a.Has&has == 0 {
			return "!" + name
		}
		return fmt.Sprintf("%s=%#x", name, v)
	}
	s := "{" + part("stack", HasStack, a.Stack) + "," + part("code", HasCode, a.Code) + "," + part("special", HasSpecial, a.Special)
	if a.Depth > 0 {
		s += fmt.Sprintf(",inline=%d", a.Depth)
	}
	if a.Tail > 0 {
		s += fmt.Sprintf(",tailcall=%d", a.Tail)
	}
	return s + "}"
}
