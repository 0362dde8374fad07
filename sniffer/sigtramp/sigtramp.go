// Package sigtramp is the sniffer of signal trampolines: the code that a signal
// handler returns to, whose PREVIOUS was interrupted rather than calling. All
// registers come from the kernel's ucontext.
//
// It knows the trampoline by its machine code, or, where code cannot be read,
// by its symbol. A trampoline of other shape that carries unwind information
// with the 'S' augmentation is left to the dwarf sniffer.
package sigtramp

import (
	"bytes"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct{}

func (Sniffer) Name() string { return "sigtramp" }

const (
	notTrampoline = frame.Answer("the code at PC is no signal trampoline")
	noSignals     = frame.Answer("the architecture has no known signal trampoline")
)

// maxCode is the room for the longest trampoline.
const maxCode = 32

func (Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.SignalRow == nil {
		return trad.Row{}, noSignals
	}
	// The PC itself decides, not PC-1: the handler "returns" to the trampoline's
	// first instruction, and what lies before that is somebody else's.
	var code [maxCode]byte
	for i := range a.Trampolines {
		t := &a.Trampolines[i]
		for _, at := range t.PCs {
			lo := q.PC - uint64(at)
			n, _ := q.Memory.ReadMemory(lo, code[:len(t.Code)])
			if n == len(t.Code) && bytes.Equal(code[:n], t.Code) {
				return a.SignalRow(lo, uint32(n)), frame.Claimed
			}
		}
	}
	return trad.Row{}, notTrampoline
}
