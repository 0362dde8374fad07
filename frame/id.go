package frame

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
)

// ID identifies a frame for as long as it lives, through stops and steps: equal
// IDs mean the same frame (GDB's struct frame_id). A function that another has jumped
// to as its last deed has the other's stack address, and a code address of its own.
//
// The parts of one function (foo and foo.cold) have one code address where symbols name them.
// In a stripped file nothing tells that the code of two FDEs is one function: there the
// code address, and so the ID, changes where control goes from the one to the other.
type ID struct {
	Stack   uint64 // the frame's CFA: constant while the function runs
	Code    uint64 // the function's first address
	Special uint64 // tells frames with equal Stack and Code apart (s390x's, ia64's second stack)
	Depth   int    // inlined calls between this frame and the physical one that it lies over

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
// into the frame with ID a; code is where the inlined code begins.
func (a ID) Inlined(depth int, code uint64) ID {
	a.Depth = depth
	a.Code, a.Has = code, a.Has|HasCode
	return a
}

// Null reports whether the ID identifies nothing.
func (a ID) Null() bool { return a.Has == 0 }

// Equal reports whether a and b identify the same frame. A code address or a
// special address that one of them lacks matches any; a null ID equals none,
// not even itself.
func (a ID) Equal(b ID) bool {
	if a.Null() || b.Null() || a.Has&HasStack != b.Has&HasStack || a.Depth != b.Depth {
		return false
	}
	both := a.Has & b.Has
	return (both&HasStack == 0 || a.Stack == b.Stack) &&
		(both&HasCode == 0 || a.Code == b.Code) &&
		(both&HasSpecial == 0 || a.Special == b.Special)
}

// Within reports whether the code that is entered at address inner, a function's or an
// inlined call's, is the same as the code that is entered at outer, or part of it.
// [github.com/sfwalk/sfwalk/symbol.Symbolizer.InlinedInto] knows.
type Within func(inner, outer uint64) bool

// Inner reports whether a is strictly inner to (newer than) b, as GDB's frame_id_inner
// does. Of IDs with equal stack addresses, a is inner where it is of a call that is inlined
// deeper than b, into the same frame, and within b's code. Where within is nil, or a code
// address is not known, nothing is known of that, and neither is inner. Functions that need
// no stack have equal stack addresses too: neither is inner.
func (a ID) Inner(b ID, on *arch.Arch, within Within) bool {
	switch {
	case a.Has&b.Has&HasStack == 0:
		return false
	case a.Stack != b.Stack:
		return on.InnerThan(a.Stack, b.Stack)
	case a.Depth <= b.Depth || a.Has != b.Has || a.Special != b.Special || a.Has&HasCode == 0:
		return false
	}
	return a.Code == b.Code || within != nil && within(a.Code, b.Code)
}

// String renders the ID as GDB does: {stack=0x…,code=0x…,!special}.
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
	return s + "}"
}
