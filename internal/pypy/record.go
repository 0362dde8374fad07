package pypy

import "github.com/sfwalk/sfwalk/arch"

// The kinds of the profiler's records (VMPROF_CODE_TAG and its neighbours).
const (
	Code   = 1 // the interpreter runs a function
	Jitted = 3 // compiled code runs
)

// The fields of a record (struct vmprof_stack_s), bytes where pointers have 8.
const (
	Next  = 0  // the record before
	Value = 8  // of Code the function's number, of Jitted the stack pointer of the frame
	Kind  = 16 // see above
	Size  = 24
)

// mostInward is how far inward of its frame's stack pointer compiled code goes, bytes: for
// arguments on the stack, and in routines that it shares.
const mostInward = 256

// FrameFrom returns the stack pointer that the frame of compiled code has which is the first one
// from sp outward. word reads a word of the stack.
func FrameFrom(word func(addr uint64) (uint64, bool), rules *arch.PyPyFrame, sp uint64) (frame uint64, ok bool) {
	for frame = sp; frame-sp <= mostInward; frame += 8 {
		record := frame + rules.Record
		if v, ok := word(record + Value); !ok {
			return 0, false
		} else if v != frame {
			continue
		}
		if kind, ok := word(record + Kind); ok && kind == Jitted {
			return frame, true
		}
	}
	return 0, false
}
