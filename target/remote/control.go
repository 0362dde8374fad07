package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/internal/linkmap"
)

// ErrNoBreakpoints says that the stub puts no breakpoints.
var ErrNoBreakpoints = errors.New("the stub puts no breakpoints")

// InsertBreakpoint has the stub put a breakpoint at an instruction, in the process of the thread
// th. kind is the kind of breakpoint in the protocol: the size of the processor's breakpoint
// instruction, bytes. Memory reads as if it were not there. The error wraps [ErrNoBreakpoints] if
// the stub does not know the packet Z0.
func (t *Target) InsertBreakpoint(th *Thread, addr uint64, kind int) error {
	return t.breakpoint('Z', th, addr, kind)
}

// RemoveBreakpoint takes away a breakpoint that InsertBreakpoint has put there, with the same
// arguments.
func (t *Target) RemoveBreakpoint(th *Thread, addr uint64, kind int) error {
	return t.breakpoint('z', th, addr, kind)
}

func (t *Target) breakpoint(verb byte, th *Thread, addr uint64, kind int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	// It is in the process of the thread that is selected.
	if err := t.s.selectThread(th.id.text); err != nil {
		return err
	}
	return t.point(verb, addr, kind)
}

func (t *Target) point(verb byte, addr uint64, kind int) error {
	reply, err := t.s.exchange(fmt.Sprintf("%c0,%x,%x", verb, addr, kind))
	switch {
	case err != nil:
		return err
	case len(reply) == 0:
		return ErrNoBreakpoints
	case string(reply) != "OK":
		return fmt.Errorf("the stub answers %q to %c0 at %#x", short(reply), verb, addr)
	}
	return nil
}

// KeepSignals has the stub deliver no signal of its own accord when it lets the target go. Else
// gdbserver delivers the signals that it has told of last.
func (t *Target) KeepSignals() error {
	if !t.s.features["QProgramSignals"] {
		return nil
	}
	return t.s.askOK("QProgramSignals:")
}

// LetChildGo lets a child go that the target has made (Forked, VForked), without the breakpoints at
// the addresses that it has from the target.
func (t *Target) LetChildGo(s Stop, breakpoints []uint64, kind int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.child.pid == 0 {
		return nil
	}
	if err := t.s.selectThread(s.child.text); err != nil {
		return err
	}
	var first error
	for _, addr := range breakpoints {
		if err := t.point('z', addr, kind); err != nil && first == nil {
			first = err
		}
	}
	if err := t.s.askOK(fmt.Sprintf("D;%x", s.child.pid)); err != nil {
		return fmt.Errorf("let process %d go: %w", s.child.pid, err)
	}
	t.s.thread = ""
	return first
}

// Auxv reads the process's auxiliary vector (getauxval(3)). Many stubs have none.
func (t *Target) Auxv() ([]byte, error) { return t.s.transfer("auxv", "", 1<<16) }

// EntryPoint returns the address of the instruction with which the program has begun: from the
// auxiliary vector, or else from the program's file.
func (t *Target) EntryPoint() (uint64, error) {
	data, err := t.Auxv()
	if fatal(err) {
		return 0, err
	}
	if err == nil {
		if entry := linkmap.ParseAuxv(data, t.arch)[linkmap.ATEntry]; entry != 0 {
			return entry, nil
		}
	}
	for _, m := range t.modules.All() {
		if m.Path != t.Exe {
			continue
		}
		if im, bias, err := m.Image(); err == nil && im.Entry != 0 {
			return im.Entry + bias, nil
		}
	}
	return 0, errors.New("the entry point of the program is not known: the stub gives no auxiliary vector, and the program's file is not there (--exe)")
}

// SignalInfo reads the kernel's siginfo_t of the signal by which the thread that stopped last has
// stopped. The error says that the stub has none.
func (t *Target) SignalInfo() ([]byte, error) { return t.s.transfer("siginfo", "", 1<<12) }

// ReadFile reads a file of at most limit bytes of the system that the target runs on. qemu's stubs
// give no files.
func (t *Target) ReadFile(path string, limit int) ([]byte, error) {
	if t.s.isQemu() {
		return nil, errUnsupported
	}
	return t.s.readWhole(path, limit)
}

// Resync makes the connection usable again after an exchange that was given up, so that the target
// can be put back. It does nothing if that cannot be: the stub has hung up.
func (t *Target) Resync() {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	l := t.s.link
	l.ctx, l.limit = context.Background(), 0
	if l.broken != nil && !errors.Is(l.broken, ErrHungUp) {
		l.broken = nil
		l.drain() // the answer may still come
	}
}
