package stub

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
	"github.com/sfwalk/sfwalk/trad"
)

// Thread is a thread that stands still. It implements [inferior.Thread].
type Thread struct {
	*remote.Thread
	process *Process
	saved   []saved
	pending int // a signal that is delivered when the thread runs again
	ran     int // Process.runs when it ran last
	// mayPass says that the thread executes the instruction at its PC though a breakpoint may be
	// there: it was told that the thread is there, or the debugger has put it there.
	mayPass bool
	// passing is where the thread is when a handler returns that was called in place of the
	// instruction at a breakpoint.
	passing *passing
	before  *remote.State // what its registers were before they were written; nil if none was since it ran
	marked  bool          // see MarkX87
}

var (
	_ inferior.Thread    = (*Thread)(nil)
	_ inferior.X87Marker = (*Thread)(nil)
)

type passing struct{ pc, sp uint64 }

type saved struct {
	state   *remote.State
	pending int
	ran     int
	mayPass bool
	marked  bool
}

// Registers implements [inferior.Thread].
func (t *Thread) Registers(r *arch.Registers) error {
	if err := t.process.ready(); err != nil {
		return err
	}
	return t.Thread.Registers(r)
}

// ReadRegister implements [inferior.Thread].
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	if err := t.process.ready(); err != nil {
		return err
	}
	if t.marked && t.process.Arch().IsX87(r) {
		var err error
		if r, err = t.x87(r); err != nil {
			return err
		}
	}
	return t.Thread.ReadRegister(r, offset, b)
}

// WriteRegister implements [inferior.Thread].
func (t *Thread) WriteRegister(r trad.Reg, offset int, b []byte) error {
	if err := t.process.ready(); err != nil {
		return err
	}
	if r == t.process.Arch().PC {
		t.mayPass = true
	}
	if err := t.touch(); err != nil {
		return err
	}
	return t.Thread.WriteRegister(r, offset, b)
}

// Save implements [inferior.Thread]. The state has the registers that the stub tells of; with
// gdbserver, these say which system call was interrupted. A system call with a timeout goes on by
// what the kernel has noted: if the thread has slept meanwhile, in a function that it was made to
// call, it ends at once. qemu has gone back to the instruction of the system call.
func (t *Thread) Save() error {
	if err := t.process.ready(); err != nil {
		return err
	}
	s, err := t.State()
	if err != nil {
		return err
	}
	t.saved = append(t.saved, saved{s, t.pending, t.ran, t.mayPass, t.marked})
	t.marked = false
	return nil
}

// Restore implements [inferior.Thread].
func (t *Thread) Restore() error {
	if err := t.process.ready(); err != nil {
		return err
	}
	if len(t.saved) == 0 {
		return fmt.Errorf("thread %d: no state was saved", t.ID())
	}
	last := t.saved[len(t.saved)-1]
	if err := t.SetState(last.state); err != nil {
		return err
	}
	t.saved, t.pending = t.saved[:len(t.saved)-1], last.pending
	t.ran, t.mayPass, t.marked, t.passing, t.before = last.ran, last.mayPass, last.marked, nil, nil
	return nil
}

// Drop implements [inferior.Thread].
func (t *Thread) Drop() error {
	if len(t.saved) == 0 {
		return fmt.Errorf("thread %d: no state was saved", t.ID())
	}
	t.saved = t.saved[:len(t.saved)-1]
	return nil
}

// Jump implements [inferior.Thread].
func (t *Thread) Jump(pc uint64) error {
	if err := t.ForgetSystemCall(); err != nil {
		return err // before anything is written
	}
	return t.setRegister(t.process.Arch().PC, pc)
}

func (t *Thread) setRegister(r trad.Reg, v uint64) error {
	return t.WriteRegister(r, 0, t.process.word(v))
}

// register returns a register that has an address or an integer.
func (t *Thread) register(r trad.Reg) (uint64, error) {
	a := t.process.Arch()
	b, err := inferior.RegisterBytes(t, r, a.PtrSize)
	if err != nil {
		return 0, err
	}
	return a.Word(b), nil
}

func (p *Process) word(v uint64) []byte { return p.Arch().AppendWord(nil, v) }

// CanCall implements [inferior.Thread]. A shadow stack is found if the stub reads files.
func (t *Thread) CanCall() error {
	p := t.process
	if err := p.ready(); err != nil {
		return err
	}
	if p.vfork == t {
		return fmt.Errorf("thread %d waits for its child (vfork)", t.ID())
	}
	shadow := p.Arch().Control.ShadowStack
	if shadow.Field == "" {
		return nil
	}
	status, err := p.target.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", p.target.PID, t.ID()), 1<<16)
	if err != nil {
		return nil // the stub has no files
	}
	for line := range strings.Lines(string(status)) {
		list, ok := strings.CutPrefix(line, shadow.Field+":")
		if ok && slices.Contains(strings.Fields(list), shadow.Word) {
			return fmt.Errorf("thread %d has a shadow stack, on which the processor would not find the call's return address", t.ID())
		}
	}
	return nil
}
