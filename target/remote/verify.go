package remote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
)

// NotWrittenError says that a stub has answered OK to a write that it has not made.
type NotWrittenError struct {
	Stub           string // its address
	What           string // "register ymm0h", "memory at 0x7ffe0000"
	Written, There []byte // of a register, as it would lie in memory; There is nil if it cannot be read
	// Late says that the stub has read back what was written until the thread was to run: it keeps
	// registers that it writes only then, and has not written this one.
	Late bool
}

func (e *NotWrittenError) Error() string {
	there := "and it cannot be read back"
	if e.There != nil {
		there = fmt.Sprintf("and %x is there", e.There)
	}
	when := ""
	if e.Late {
		when = " when the thread runs"
	}
	text := fmt.Sprintf("the stub%s answers OK to a write that it has not made%s: %s: %x was written, %s", e.at(), when, e.What, e.Written, there)
	if strings.HasPrefix(e.What, "memory") {
		return text + "; is that memory read-only?"
	}
	return text + `; the stub's own output may say why (gdbserver 13 cannot write vector registers on processors with AMX): use a newer release of it, or "sfwalk call" on the target's machine, which needs no stub`
}

func (e *NotWrittenError) at() string {
	if e.Stub == "" {
		return ""
	}
	return " at " + e.Stub
}

// verify reads memory back that one packet has written. m.mu is held.
func (m *memory) verify(addr uint64, written []byte) error {
	there := make([]byte, len(written))
	n, err := m.s.readMemory(addr, there)
	if err != nil {
		return err
	}
	e := &NotWrittenError{Stub: m.s.addr}
	switch i := firstDifference(there[:n], written); {
	case n == len(written) && i == n:
		return nil
	case i == n:
		e.What, e.Written = fmt.Sprintf("memory at %#x", addr+uint64(n)), written[n:]
	default:
		e.What, e.Written, e.There = fmt.Sprintf("memory at %#x", addr+uint64(i)), written[i:], there[i:n]
	}
	const shown = 16
	e.Written = e.Written[:min(len(e.Written), shown)]
	if e.There != nil {
		e.There = e.There[:min(len(e.There), shown)]
	}
	return e
}

// firstDifference returns the index of the first byte in which a and the beginning of b differ,
// len(a) if none does.
func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// verifySlot reads a register back that was written. t.mu is held.
func (t *Target) verifySlot(th *Thread, p slot, written []byte) error {
	there, err := t.readSlot(th, p)
	if err != nil {
		return err
	}
	return t.compare(t.layout.byNumber(p.num), written, there, false)
}

// compare returns an error if a register has not the value that was written.
func (t *Target) compare(d *described, written, there []byte, late bool) error {
	if t.same(d, written, there) {
		return nil
	}
	return &NotWrittenError{Stub: t.s.addr, What: "register " + d.name, Written: written, There: there, Late: late}
}

// same reports whether two values of a register are the same in all bits that a write sets.
func (t *Target) same(d *described, a, b []byte) bool {
	mask, some := t.arch.GDB().Settable[d.name]
	if !some || len(a) != len(b) || len(a) > 8 && mask != 0 {
		return bytes.Equal(a, b)
	}
	return mask == 0 || (number(t.arch, a)^number(t.arch, b))&mask == 0
}

// number returns the number that at most 8 bytes of the target are.
func number(a *arch.Arch, b []byte) (v uint64) {
	for i := range b {
		if a.Order == binary.ByteOrder(binary.BigEndian) {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

// byNumber returns the stub's register of a number, which is one.
func (l *layout) byNumber(num int) *described {
	return &l.all[slices.IndexFunc(l.all, func(d described) bool { return d.num == num })]
}

// verifyState compares registers that were to be changed from before to want with what is there
// now. t.mu is held.
func (t *Target) verifyState(before, want, now *State, late bool) error {
	for i := range t.layout.all {
		d := &t.layout.all[i]
		old, ok := before.value(d)
		written, told := want.value(d)
		there, still := now.value(d)
		if !ok || !told || !still || bytes.Equal(old, written) {
			continue
		}
		if err := t.compare(d, written, there, late); err != nil {
			return err
		}
	}
	return nil
}

// value returns a register's bytes; ok is false if the stub has not told them.
func (s *State) value(d *described) (b []byte, ok bool) {
	lo, hi := 2*d.off, 2*(d.off+d.bytes)
	if hi <= len(s.general) {
		b = make([]byte, d.bytes)
		return b, unhex(b, s.general[lo:hi]) == len(b)
	}
	for i := range s.behind {
		if s.behind[i].num == d.num {
			return s.behind[i].value, true
		}
	}
	return nil, false
}

// Keeps reports whether the stub is known to keep registers that it is told to write until a thread
// runs, and to read back what it was told until then: gdbserver. Its threads stop at a breakpoint
// that they stand at; qemu's step over it.
func (t *Target) Keeps() bool { return t.s.features["ConditionalBreakpoints"] }

// Arrived compares registers that were changed from before to want with the registers that the
// thread has, now that it was told to run. The error is a [*NotWrittenError].
func (t *Thread) Arrived(before, want *State) error {
	now, err := t.State()
	if err != nil {
		return err
	}
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	if err := t.t.verifyState(before, want, now, true); err != nil {
		return fmt.Errorf("thread %d: %w", t.ID(), err)
	}
	return nil
}

// Probe returns a state that differs from s in that the thread is in no system call; and, if
// vectors is set, in all vector registers that the stub reads and writes with the others (g).
func (t *Thread) Probe(s *State, vectors bool) *State {
	a := t.t.arch
	p := &State{target: t.t, general: bytes.Clone(s.general), behind: s.behind}
	for i := range a.WideRegs() {
		w := &a.WideRegs()[i]
		const vector = 16 // bytes; the x87's registers have fewer
		if !vectors || w.Size() < vector {
			continue
		}
		for _, part := range t.t.layout.parts(a, w.Num) {
			p.change(&part.slot, func(b []byte) {
				for i := range b {
					b[i] ^= 0xff
				}
			})
		}
	}
	if s := t.t.layout.named(a.GDB().SystemCall); s != nil {
		p.change(s, func(b []byte) { copy(b, a.Control.NoSystemCall) })
	}
	return p
}

// change changes the bytes of one of the registers that g reads.
func (s *State) change(p *slot, do func(b []byte)) {
	if 2*(p.off+p.bytes) > len(s.general) {
		return
	}
	text := s.general[2*p.off : 2*(p.off+p.bytes)]
	b := make([]byte, p.bytes)
	if unhex(b, text) < len(b) {
		return
	}
	do(b)
	copy(text, fmt.Appendf(nil, "%x", b))
}

// IsNotWritten reports whether an error says that a stub has not made a write.
func IsNotWritten(err error) bool {
	var e *NotWrittenError
	return errors.As(err, &e)
}
