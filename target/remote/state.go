package remote

import (
	"bytes"
	"fmt"
)

// State is what a thread's registers were at a moment.
type State struct {
	target  *Target
	general []byte
	behind  []kept // registers that g does not read
}

type kept struct {
	described
	value []byte
}

// State reads all registers of the thread that the stub has. It leaves out registers of the stub's
// own features: they are the processor's rather than a thread's.
func (t *Thread) State() (*State, error) {
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	general, err := t.t.general(t)
	if err != nil {
		return nil, fmt.Errorf("registers of thread %d: %w", t.ID(), err)
	}
	s := &State{target: t.t, general: bytes.Clone(general)}
	err = t.behind(general, func(d *described, value []byte) error {
		s.behind = append(s.behind, kept{*d, value})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("registers of thread %d: %w", t.ID(), err)
	}
	return s, nil
}

// behind calls do for each of the thread's registers that g does not read. It leaves out registers
// that the stub does not tell.
func (t *Thread) behind(general []byte, do func(d *described, value []byte) error) error {
	for i := range t.t.layout.all {
		d := &t.t.layout.all[i]
		if d.system || 2*(d.off+d.bytes) <= len(general) {
			continue
		}
		reply, err := t.t.s.exchange(fmt.Sprintf("p%x", d.num))
		if err != nil {
			return err
		}
		b := make([]byte, min(d.bytes, len(reply)/2))
		if len(b) < d.bytes || unhex(b, reply) < len(b) {
			continue
		}
		if err := do(d, b); err != nil {
			return err
		}
	}
	return nil
}

// SetState puts the thread's registers back, and reads them back: the error may be a
// [*NotWrittenError]. It writes only registers that have changed.
func (t *Thread) SetState(s *State) error {
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	if err := t.setState(s); err != nil {
		return fmt.Errorf("put back the registers of thread %d: %w", t.ID(), err)
	}
	return nil
}

func (t *Thread) setState(s *State) error {
	general, err := t.t.general(t)
	if err != nil {
		return err
	}
	if !bytes.Equal(general, s.general) {
		before := &State{general: bytes.Clone(general)}
		if err := t.t.writeAll(t, general, s.general); err != nil {
			return err
		}
		now, err := t.t.general(t)
		if err != nil {
			return err
		}
		if err := t.t.verifyState(before, s, &State{general: now}, false); err != nil {
			return err
		}
	}
	// Registers may be parts of others: a register that is read now may have changed because
	// another was written.
	for i := range s.behind {
		k := &s.behind[i]
		now, err := t.t.readSlot(t, k.slot)
		if err == nil && !bytes.Equal(now, k.value) {
			err = t.t.writeSlot(t, k.slot, k.value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// writeAll writes the registers that g reads: at once, or, if the stub does not tell some of them,
// or does not know G, one by one.
func (t *Target) writeAll(th *Thread, now, want []byte) error {
	if !bytes.ContainsRune(want, 'x') {
		reply, err := t.s.exchange("G" + string(want))
		if err != nil {
			return err
		}
		if len(reply) > 0 {
			t.written(th)
			return isOK(reply, "G")
		}
	}
	for i := range t.layout.all {
		d := &t.layout.all[i]
		lo, hi := 2*d.off, 2*(d.off+d.bytes)
		if hi > len(want) || hi <= len(now) && bytes.Equal(now[lo:hi], want[lo:hi]) {
			continue
		}
		b := make([]byte, d.bytes)
		if unhex(b, want[lo:hi]) < len(b) {
			continue
		}
		if err := t.writeSlot(th, d.slot, b); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// ForgetSystemCall has the thread, which was stopped in a system call, not begin that again when it
// runs. It does nothing if the stub does not tell of system calls, and fails if that stub is
// lldb-server: there, a real kernel moves the PC of a thread that runs elsewhere back by an
// instruction.
func (t *Thread) ForgetSystemCall() error {
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	s := t.t.layout.named(t.t.arch.GDB().SystemCall)
	if s == nil || s.bytes < len(t.t.arch.Control.NoSystemCall) {
		if t.t.s.features[suffixes] {
			return fmt.Errorf("thread %d: lldb-server has no register that says whether the thread is in a system call, which the kernel might begin again: use gdbserver", t.ID())
		}
		return nil
	}
	b := make([]byte, s.bytes)
	copy(b, t.t.arch.Control.NoSystemCall)
	if err := t.t.writeSlot(t, *s, b); err != nil {
		return fmt.Errorf("thread %d: %s: %w", t.ID(), t.t.arch.GDB().SystemCall, err)
	}
	return nil
}

// Equal reports whether two states of one thread are the same, but for what a debugger cannot set:
// see [arch.GDB.Settable].
func (s *State) Equal(o *State) bool {
	if len(s.general) != len(o.general) || len(s.behind) != len(o.behind) {
		return false
	}
	for i := range s.target.layout.all {
		d := &s.target.layout.all[i]
		a, ok := s.value(d)
		b, same := o.value(d)
		if mask, some := s.target.arch.GDB().Settable[d.name]; some && mask == 0 {
			continue
		}
		if ok != same || !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}
