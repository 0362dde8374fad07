package logical

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// Frame is one logical frame.
type Frame struct {
	// Location is what runs in the frame: its function or inlined call, the block of code around PC
	// ([Start, End), and Entry), file and line. In a frame of type TailCall, the jump may be in an
	// inlined call: then the frame is named for that call, as GDB does it.
	symbol.Location

	Type  frame.Type // Inline, TailCall, or the type of Physical
	Level int        // from 0 for the innermost; GDB's number
	PC    uint64     // Physical's; behind the jump if the type is TailCall
	// AddressInBlock is the address that Location is of: PC, or one before it, as
	// [frame.Frame.AddressInBlock] says.
	AddressInBlock uint64

	// Physical is the frame on the stack that this one is laid over. Of a frame of type TailCall,
	// that is the frame of the function to which the jump has led: Physical's caller called what
	// jumped.
	Physical *frame.Frame

	// Calls says how the call of this frame came to the physical frame further in, unless it went
	// there directly. Only frames of type TailCall and physical frames have it; nil if nothing is
	// known.
	Calls *symbol.TailCalls

	Over bool // the frame before is a call that is inlined into this frame

	depth int // how many inlined calls deep; for a tail call, its number from the outermost on
}

// ID returns the frame's identity: Physical's, with a depth. It is null if Physical's is.
func (f *Frame) ID() frame.ID {
	id := f.Physical.ID()
	switch {
	case f.depth == 0 || id.Null():
		return id
	case f.Type == frame.TailCall:
		return id.TailCalled(f.depth, f.PC)
	}
	return id.Inlined(f.depth, f.Entry)
}

// Depth returns how many inlined calls deep the frame is in its physical frame: 0 for the physical
// frame. For a frame that left by a tail call, it is the call's number, from the outermost on.
func (f *Frame) Depth() int { return f.depth }
