package native

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/guard"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/trad"
)

// Thread is a thread that is held. It implements [inferior.Thread].
type Thread struct {
	process *Process
	id      int
	sets    map[uint32][]byte // the register sets that were read since the thread has stopped
}

var (
	_ inferior.Beginner = (*Thread)(nil)
	_ inferior.Returner = (*Thread)(nil)
)

// ID returns the kernel's thread ID in the caller's PID namespace.
func (t *Thread) ID() int { return t.id }

// Name returns the thread's name (comm).
func (t *Thread) Name() string {
	text, _ := os.ReadFile(t.file("comm"))
	return strings.TrimSuffix(string(text), "\n")
}

func (t *Thread) file(name string) string {
	return fmt.Sprintf("/proc/%d/task/%d/%s", t.process.PID, t.id, name)
}

// set returns a register set. The error wraps EINVAL if the thread has no such set.
func (t *Thread) set(note uint32) ([]byte, error) {
	if set, ok := t.sets[note]; ok {
		return set, nil
	}
	notes := []uint32{note}
	if all := t.process.Arch().Control.StateSets; note != all[0] {
		for _, other := range all { // who asks for one of these asks for the next one, mostly
			if _, have := t.sets[other]; !have && other != note {
				notes = append(notes, other)
			}
		}
	}
	a, err := t.process.ask(&guard.Request{Op: guard.OpGet, TID: t.id, Notes: notes})
	if err != nil {
		return nil, fmt.Errorf("thread %d: read registers: %w", t.id, err)
	}
	if t.sets == nil {
		t.sets = map[uint32][]byte{}
	}
	for i, n := range a.Sizes {
		if i < len(notes) && n >= 0 && n <= len(a.Data) {
			t.sets[notes[i]], a.Data = a.Data[:n:n], a.Data[n:]
		}
	}
	return t.sets[note], nil
}

// write writes a register set that was changed. Other sets may have the same registers.
func (t *Thread) write(note uint32, set []byte) error {
	a, err := t.process.ask(&guard.Request{Op: guard.OpSet, TID: t.id, Note: note, Data: set})
	t.sets = nil
	if err != nil {
		return fmt.Errorf("thread %d: write registers: %w", t.id, err)
	}
	if len(a.Data) > 0 {
		t.sets = map[uint32][]byte{note: a.Data}
	}
	return nil
}

// Registers implements [target.Thread].
func (t *Thread) Registers(r *arch.Registers) error {
	a := t.process.Arch()
	for i := range a.KernelRegs {
		k := &a.KernelRegs[i]
		set, err := t.set(k.Note)
		if err != nil && i == 0 {
			return err
		}
		if err == nil {
			k.Get(a, set[:min(len(set), k.Size)], r)
		}
	}
	return nil
}

// place is where a register, or a part of it, is in a set.
type place struct {
	arch.WidePart
	at int // bytes from the beginning of the register
}

// places returns where a register is.
func (t *Thread) places(r trad.Reg) (list []place) {
	a := t.process.Arch()
	if w := a.Wide(r); w != nil {
		at := 0
		for _, part := range w.Parts {
			list = append(list, place{part, at})
			at += part.Size
		}
		return list
	}
	for i := range a.KernelRegs {
		for _, k := range a.KernelRegs[i].Regs {
			if k.Reg == r {
				return []place{{arch.WidePart{Note: a.KernelRegs[i].Note, Off: k.Off, Size: k.Size}, 0}}
			}
		}
	}
	return nil
}

// each calls do for each part of the n bytes of a register from offset on: with the set, and the
// range in it, that begins at byte at of the n.
func (t *Thread) each(r trad.Reg, offset, n int, do func(p *place, set []byte, lo, hi, at int)) error {
	done := 0
	list := t.places(r)
	for i := range list {
		p := &list[i]
		lo, hi := max(offset, p.at), min(offset+n, p.at+p.Size)
		if lo >= hi {
			continue
		}
		set, err := t.set(p.Note)
		if err != nil && (i == 0 || !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENODEV)) {
			return err
		}
		from, ok := p.At(set, control.HostLayout())
		if !ok {
			break // this processor's is narrower
		}
		do(p, set, from+lo-p.at, from+hi-p.at, lo-offset)
		done += hi - lo
	}
	if done < n {
		return fmt.Errorf("thread %d: register %s has no bytes %d to %d", t.id, t.process.Arch().RegName(r), offset, offset+n-1)
	}
	return nil
}

// ReadRegister implements [target.WideThread].
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	return t.each(r, offset, len(b), func(_ *place, set []byte, lo, hi, at int) { copy(b[at:], set[lo:hi]) })
}

// WriteRegister implements [target.WritableThread]. A part is written before the set of the next
// one is read: that may have the first part, too, as NT_X86_XSTATE has the lower halves of vector
// registers.
func (t *Thread) WriteRegister(r trad.Reg, offset int, b []byte) error {
	if err := t.each(r, offset, len(b), func(*place, []byte, int, int, int) {}); err != nil {
		return err
	}
	var failed error
	err := t.each(r, offset, len(b), func(p *place, set []byte, lo, hi, at int) {
		set = slices.Clone(set)
		copy(set[lo:hi], b[at:])
		if p.Bits != 0 && p.InUse < len(set) {
			set[p.InUse] |= p.Bits
		}
		if failed == nil {
			failed = t.write(p.Note, set)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// Save implements [inferior.Thread].
func (t *Thread) Save() error { return t.state(guard.OpSave) }

// Restore implements [inferior.Thread].
func (t *Thread) Restore() error { return t.state(guard.OpRestore) }

// Returned implements [inferior.Returner].
func (t *Thread) Returned() error { return t.state(guard.OpReturned) }

// Drop implements [inferior.Thread].
func (t *Thread) Drop() error { return t.state(guard.OpDrop) }

func (t *Thread) state(o guard.Op) error {
	_, err := t.process.ask(&guard.Request{Op: o, TID: t.id})
	if o == guard.OpRestore || o == guard.OpReturned {
		t.sets = nil
	}
	if err != nil {
		return fmt.Errorf("thread %d: %w", t.id, err)
	}
	return nil
}

// Jump implements [inferior.Thread].
func (t *Thread) Jump(pc uint64) error {
	set, err := t.set(t.process.Arch().KernelRegs[0].Note)
	if err != nil {
		return err
	}
	return t.jump(slices.Clone(set), pc)
}

// jump writes a status, with another PC.
func (t *Thread) jump(status []byte, pc uint64) error {
	a := t.process.Arch()
	var regs arch.Registers
	regs.Set(a.PC, pc)
	k := &a.KernelRegs[0]
	k.Put(a, &regs, status[:min(len(status), k.Size)])
	call := a.Control.SystemCall
	if call.Note == k.Note {
		copy(status[call.Off:call.Off+call.Size], a.Control.NoSystemCall)
	}
	if err := t.write(k.Note, status); err != nil || call.Note == k.Note {
		return err
	}
	return t.write(call.Note, a.Control.NoSystemCall)
}

// Begin implements [inferior.Beginner].
func (t *Thread) Begin(list []abi.Register, pc uint64) error {
	k := &t.process.Arch().KernelRegs[0]
	set, err := t.set(k.Note)
	if err != nil {
		return err
	}
	status := slices.Clone(set)
	for _, r := range list {
		if p := t.places(r.Reg); len(p) == 1 && p[0].Note == k.Note && r.Offset+len(r.Bytes) <= p[0].Size {
			copy(status[p[0].Off+r.Offset:], r.Bytes)
		} else if err := t.WriteRegister(r.Reg, r.Offset, r.Bytes); err != nil {
			return err
		}
	}
	return t.jump(status, pc)
}

// CanCall implements [inferior.Thread].
func (t *Thread) CanCall() error {
	shadow := t.process.Arch().Control.ShadowStack
	has := false
	if shadow.Note != 0 {
		set, err := t.set(shadow.Note)
		has = err == nil && len(set) >= 8 && t.process.Arch().Order.Uint64(set)&1 != 0
	} else if shadow.Field != "" {
		text, _ := os.ReadFile(t.file("status"))
		has = hasWord(string(text), shadow.Field, shadow.Word)
	}
	if has {
		return fmt.Errorf("thread %d has a shadow stack, on which the processor would not find the call's return address", t.id)
	}
	if parent := t.process.memoryParent(); parent != 0 {
		return fmt.Errorf("process %d is a child that vfork(2) has made: until it runs another program, it shares the memory of process %d", t.process.PID, parent)
	}
	return nil
}

// memoryParent returns the ID of the process's parent if both have one memory, as after vfork(2);
// else 0.
func (p *Process) memoryParent() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	var state string
	var parent int
	if _, err := fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent); err != nil || parent == 0 {
		return 0
	}
	if !guard.SameMemory(procdir.Thread(p.PID), parent) {
		return 0
	}
	return parent
}

// hasWord reports whether the line of a field of /proc/TID/status has a word.
func hasWord(status, field, word string) bool {
	for line := range strings.Lines(status) {
		if list, ok := strings.CutPrefix(line, field+":"); ok {
			return slices.Contains(strings.Fields(list), word)
		}
	}
	return false
}
