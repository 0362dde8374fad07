package frame

import (
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// Type is the kind of a frame. The terms are GDB's, but for OtherStack.
type Type uint8

const (
	Normal     Type = iota
	Dummy           // a call that a debugger has the target make
	Inline          // an inlined call, laid over a physical frame
	TailCall        // a caller that left by a tail call
	SigTramp        // the signal trampoline: PREVIOUS was interrupted
	OtherStack      // PREVIOUS is on another stack
	Sentinel        // level -1: the live registers
)

var typeNames = [...]string{"normal", "dummy", "inline", "tailcall", "sigtramp", "otherstack", "sentinel"}

// String returns the type in lower case: "normal", "sigtramp", "otherstack".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// StopReason says why a frame has no PREVIOUS.
type StopReason uint8

const (
	NoReason    StopReason = iota // there is a PREVIOUS
	Outermost                     // THIS is the outermost frame, by the unwind information, the ABI's zero, or its code
	NullID                        // the frame cannot be identified
	SameID                        // PREVIOUS would be THIS again
	InnerID                       // the stack goes inward: THIS lies inside its NEXT
	NoSavedPC                     // there is no return address
	MemoryError                   // memory that is needed cannot be read
	Unavailable                   // no sniffer can unwind THIS, or a register is missing
	NotCode                       // the PC is not in executable memory
	Limit                         // the stack has as many frames as were asked for
)

var stopNames = [...]string{
	"", "outermost", "null ID", "same ID", "inner ID", "no saved PC",
	"memory error", "unavailable", "PC outside code", "limit",
}

// String returns the reason in a few words: "no saved PC".
func (r StopReason) String() string {
	if int(r) < len(stopNames) {
		return stopNames[r]
	}
	return fmt.Sprintf("StopReason(%d)", uint8(r))
}

// Whole reports whether a stack that stopped for this reason is complete.
func (r StopReason) Whole() bool { return r == Outermost }

// StopError says that a stack ended early: at which frame and why.
type StopError struct {
	Level  int
	PC     uint64
	Reason StopReason
	Err    error // more detail, or nil
}

func (e *StopError) Error() string {
	s := fmt.Sprintf("frame %d at %#x: %s", e.Level, e.PC, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *StopError) Unwrap() error { return e.Err }

// typed are the flags of rows whose frames are of a type of their own.
const typed = trad.Signal | trad.OtherStack | trad.Dummy | trad.Inline | trad.TailCall

// typeOf returns the type of a frame by its row's flags.
func typeOf(flags trad.Flags) Type {
	switch {
	case flags&trad.Dummy != 0:
		return Dummy
	case flags&trad.Signal != 0:
		return SigTramp
	case flags&trad.Inline != 0:
		return Inline
	case flags&trad.TailCall != 0:
		return TailCall
	case flags&trad.OtherStack != 0:
		return OtherStack
	}
	return Normal
}
