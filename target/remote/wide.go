package remote

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

var _ target.WritableThread = (*Thread)(nil)

// part is one of the stub's registers as a part of a register of the architecture.
type part struct {
	slot
	at int // bytes from the beginning of the register
}

// parts returns where the stub has a register, the first bytes first.
func (l *layout) parts(a *arch.Arch, r trad.Reg) (list []part) {
	w := a.Wide(r)
	if w == nil {
		for _, s := range l.regs {
			if s.reg == r {
				return []part{{s, 0}}
			}
		}
		return nil
	}
	if s := l.named(w.Name); s != nil && !l.isMisplaced(w.Name) {
		return []part{{*s, 0}}
	}
	at := 0
	for _, name := range a.GDB().Parts[w.Name] {
		s := l.named(name)
		if s == nil || l.isMisplaced(name) {
			break
		}
		list = append(list, part{*s, at})
		at += s.bytes
	}
	for _, narrow := range w.Narrower {
		if s := l.named(narrow.Name); s != nil && s.bytes == narrow.Size && s.bytes > at {
			list, at = []part{{*s, 0}}, s.bytes
		}
	}
	return list
}

// named returns the stub's register of a name, nil if it has none.
func (l *layout) named(name string) *slot {
	for i := range l.all {
		if l.all[i].name == name {
			return &l.all[i].slot
		}
	}
	return nil
}

// ReadRegister implements [target.WideThread].
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	return t.each(r, offset, len(b), func(_ *part, now []byte, lo, at int) error {
		copy(b[at:], now[lo:])
		return nil
	})
}

// WriteRegister implements [target.WritableThread]. What was written is read back: the error may be
// a [*NotWrittenError].
func (t *Thread) WriteRegister(r trad.Reg, offset int, b []byte) error {
	return t.each(r, offset, len(b), func(p *part, now []byte, lo, at int) error {
		now = slices.Clone(now)
		copy(now[lo:], b[at:])
		return t.t.writeSlot(t, p.slot, now)
	})
}

// each calls do for each of the stub's registers that has some of the n bytes of a register from
// offset on: now has the bytes of the stub's register: from lo on, they are the n bytes from at on.
func (t *Thread) each(r trad.Reg, offset, n int, do func(p *part, now []byte, lo, at int) error) error {
	t.t.mu.Lock()
	defer t.t.mu.Unlock()
	done, a := 0, t.t.arch
	for _, p := range t.t.layout.parts(a, r) {
		lo, hi := max(offset, p.at), min(offset+n, p.at+p.bytes)
		if offset < 0 || lo >= hi {
			continue
		}
		now, err := t.t.readSlot(t, p.slot)
		if err == nil {
			err = do(&p, now, lo-p.at, lo-offset)
		}
		if err != nil {
			return fmt.Errorf("thread %d: register %s: %w", t.ID(), t.t.regName(r), err)
		}
		done += hi - lo
	}
	if done < n {
		why := ""
		if t.t.layout.misplaced != nil {
			why = ": " + errMisplaced.Error()
		}
		return fmt.Errorf("thread %d: the stub has no bytes %d to %d of a register %s%s", t.ID(), offset, offset+n-1, t.t.regName(r), why)
	}
	return nil
}

func (t *Target) regName(r trad.Reg) string {
	if w := t.arch.Wide(r); w != nil {
		return w.Name
	}
	return t.arch.RegName(r)
}

// readSlot returns the bytes of one of the stub's registers. t.mu is held.
func (t *Target) readSlot(th *Thread, p slot) ([]byte, error) {
	general, err := t.general(th)
	if err != nil {
		return nil, err
	}
	var text []byte
	if end := 2 * (p.off + p.bytes); end <= len(general) {
		text = general[2*p.off : end]
	} else if text, err = t.s.exchange(fmt.Sprintf("p%x", p.num)); err != nil {
		return nil, err
	}
	b := make([]byte, p.bytes)
	if len(text) != 2*p.bytes || unhex(b, text) < p.bytes {
		return nil, fmt.Errorf("it is not available: the stub answers %q", short(text))
	}
	return b, nil
}

// writeSlot writes one of the stub's registers, and reads it back. t.mu is held.
func (t *Target) writeSlot(th *Thread, p slot, b []byte) error {
	if err := t.sendSlot(th, p, b); err != nil {
		return err
	}
	return t.verifySlot(th, p, b)
}

// sendSlot has the stub write a register: by P, or, if it does not know that, with all others by G.
func (t *Target) sendSlot(th *Thread, p slot, b []byte) error {
	general, err := t.general(th)
	if err != nil {
		return err
	}
	if !t.noP {
		reply, err := t.s.exchange(fmt.Sprintf("P%x=%x", p.num, b))
		if err != nil {
			return err
		}
		if len(reply) > 0 {
			t.written(th)
			if err := isOK(reply, "P"); err != nil || 2*(p.off+p.bytes) <= len(general) {
				return err
			}
			return t.writeTwice(p, b)
		}
		t.noP = true
	}
	if 2*(p.off+p.bytes) > len(general) {
		return fmt.Errorf("it cannot be written: %w", errUnsupported)
	}
	all := slices.Clone(general)
	hex.Encode(all[2*p.off:], b)
	return t.writeGeneral(th, all)
}

// writeTwice writes a register again if it has another value than it was given: qemu takes the low
// halves of s390x's vector registers from the 8 bytes behind the bytes that it was sent
// (cpu_write_vreg in target/s390x/gdbstub.c).
func (t *Target) writeTwice(p slot, b []byte) error {
	now, err := t.s.exchange(fmt.Sprintf("p%x", p.num))
	if err != nil || string(now) == hex.EncodeToString(b) {
		return err
	}
	_, err = t.s.exchange(fmt.Sprintf("P%x=%x%x", p.num, b, b))
	return err
}

// writeGeneral writes all registers that g reads.
func (t *Target) writeGeneral(th *Thread, all []byte) error {
	if i := slices.Index(all, 'x'); i >= 0 {
		return fmt.Errorf("registers cannot be written: the stub has not told the one at byte %d of its answer to g", i/2)
	}
	reply, err := t.s.exchange("G" + string(all))
	if err != nil {
		return err
	}
	t.written(th)
	return isOK(reply, "G")
}

// written forgets the registers of a thread.
func (t *Target) written(th *Thread) {
	delete(t.regs, th)
	th.general = nil
}

// isOK returns an error unless a stub's reply to a packet is OK.
func isOK(reply []byte, packet string) error {
	switch {
	case string(reply) == "OK":
		return nil
	case len(reply) == 0:
		return fmt.Errorf("packet %s: %w", packet, errUnsupported)
	}
	return fmt.Errorf("the stub answers %q to %s", short(reply), packet)
}
