package sigtramp

import (
	"bytes"
	"slices"

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
	if len(a.Trampolines) == 0 {
		return trad.Row{}, noSignals
	}
	// The PC itself decides, not PC-1: the handler "returns" to the trampoline's
	// first instruction, and what lies before that is somebody else's.
	var code [maxCode]byte
	if n, _ := q.Memory.ReadMemory(q.PC, code[:1]); n == 0 {
		return bySymbol(q)
	}
	for i := range a.Trampolines {
		t := &a.Trampolines[i]
		for _, at := range t.PCs {
			lo := q.PC - uint64(at)
			n, _ := q.Memory.ReadMemory(lo, code[:len(t.Code)])
			if n == len(t.Code) && bytes.Equal(code[:n], t.Code) {
				return t.Row(lo, uint32(n)), frame.Claimed
			}
		}
	}
	return trad.Row{}, notTrampoline
}

// bySymbol answers for code that cannot be read, such as a core file's that was
// left out of it.
func bySymbol(q *frame.Query) (trad.Row, frame.Answer) {
	m := q.Modules.Find(q.PC)
	if m == nil {
		return trad.Row{}, notTrampoline
	}
	im, bias, err := m.Image()
	if err != nil {
		return trad.Row{}, notTrampoline
	}
	s, ok := im.Symbols().Find(q.PC - bias)
	if !ok {
		return trad.Row{}, notTrampoline
	}
	name := im.Symbols().Name(s)
	for i := range q.Arch.Trampolines {
		if t := &q.Arch.Trampolines[i]; slices.Contains(t.Symbols, name) {
			return t.Row(s.Addr+bias, uint32(s.Size)), frame.Claimed
		}
	}
	return trad.Row{}, notTrampoline
}
