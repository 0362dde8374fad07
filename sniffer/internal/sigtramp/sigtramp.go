package sigtramp

import (
	"bytes"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct{}

var _ frame.SignalSniffer = (*Sniffer)(nil)

func (*Sniffer) Name() string { return "sigtramp" }

const (
	noFrame       = frame.Answer("what is at SP is not what the kernel leaves there for a signal trampoline")
	unknownSP     = frame.Answer("SP is not known")
	notTrampoline = frame.Answer("the code at PC is no signal trampoline")
	noSignals     = frame.Answer("the architecture has no known signal trampoline")
)

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if len(q.Arch.Trampolines) == 0 {
		return trad.Row{}, noSignals
	}
	// The PC itself decides, not PC-1: the handler "returns" to the trampoline's
	// first instruction, and PC-1 may belong to another function.
	code, at := q.Code()
	if at == len(code) {
		return unreadable(q)
	}
	for i := range q.Arch.Trampolines {
		t := &q.Arch.Trampolines[i]
		for _, pc := range t.PCs {
			if lo := at - pc; lo >= 0 && code[lo] == t.Code[0] && bytes.HasPrefix(code[lo:], t.Code) {
				return t.Row(q.PC-uint64(pc), uint32(len(t.Code))), frame.Claimed
			}
		}
	}
	if q.AddressInBlock == q.PC {
		return entering(q, code[:at])
	}
	return trad.Row{}, notTrampoline
}

// entering answers for a thread that enters sigreturn(2), where debuggers and seccomp stop it: PC
// is behind a trampoline. before is the code before PC. Other code may begin at PC, so what is at
// SP must be the kernel's frame. That does not tell a handler that begins there, so no function may
// begin at PC.
func entering(q *frame.Query, before []byte) (trad.Row, frame.Answer) {
	for i := range q.Arch.Trampolines {
		t := &q.Arch.Trampolines[i]
		if bytes.HasSuffix(before, t.Code) && onStack(q, t) && !q.FunctionBegins(q.PC) {
			row := t.Row(q.PC, 1)
			row.Flags |= trad.Once
			return row, frame.Claimed
		}
	}
	return trad.Row{}, notTrampoline
}

// unreadable answers for code that cannot be read, such as code that a core file lacks. It answers
// by the code's symbol. If there is none, and THIS is a caller, it answers by the words at SP.
// qemu's vDSO is such code in the core files that qemu writes.
func unreadable(q *frame.Query) (trad.Row, frame.Answer) {
	if m := q.Modules.Find(q.PC); m != nil {
		if im, bias, err := m.Image(); err == nil {
			if s, ok := im.Symbols().Find(q.PC - bias); ok {
				return bySymbol(q, im.Symbols().Name(s), s.Addr+bias, s.Size)
			}
		}
	}
	if q.AddressInBlock == q.PC {
		return trad.Row{}, notTrampoline
	}
	return (&Sniffer{}).SniffSignal(q)
}

// bySymbol answers for the code of a symbol, size bytes from addr on.
func bySymbol(q *frame.Query, name string, addr, size uint64) (trad.Row, frame.Answer) {
	for i := range q.Arch.Trampolines {
		if t := &q.Arch.Trampolines[i]; slices.Contains(t.Symbols, name) {
			return t.Row(addr, uint32(size)), frame.Claimed
		}
	}
	return trad.Row{}, notTrampoline
}

// SniffSignal answers for a signal frame with unknown code, by what the kernel has
// written at SP. Its row holds for all frames at the PC: other code never has such a stack.
func (*Sniffer) SniffSignal(q *frame.Query) (trad.Row, frame.Answer) {
	if !q.This.Register(q.Arch.SP).Known() {
		return trad.Row{}, unknownSP
	}
	for i := range q.Arch.Trampolines {
		if t := &q.Arch.Trampolines[i]; onStack(q, t) {
			return t.Row(q.PC, 1), frame.Claimed
		}
	}
	return trad.Row{}, noFrame
}

// onStack reports whether what is at SP can only be the frame that the kernel has made for t.
func onStack(q *frame.Query, t *arch.Trampoline) bool {
	sp := q.This.Register(q.Arch.SP)
	if !sp.Known() || t.OnStack == nil {
		return false
	}
	readable := true
	word := func(off int) uint64 {
		p := q.Read(sp.Bits+uint64(off), q.Arch.PtrSize)
		if len(p) < q.Arch.PtrSize {
			readable = false
			return 0
		}
		return q.Arch.Word(p)
	}
	return t.OnStack(sp.Bits, word) && readable
}
