package stub

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
)

// breakpoint is one address at which threads stop.
type breakpoint struct {
	count    int    // how often it was set
	set      int    // Process.runs when it was set first
	original []byte // the code there, if the breakpoint is written to memory; nil if the stub puts it
}

// each calls do for each byte i of the breakpoint at address at that is byte k of the n bytes at
// addr.
func (b *breakpoint) each(at, addr uint64, n int, do func(i, k int)) {
	for i := range b.original {
		if k := at + uint64(i) - addr; k < uint64(n) {
			do(i, int(k))
		}
	}
}

// SetBreakpoint implements [inferior.Process].
func (p *Process) SetBreakpoint(addr uint64) error {
	if err := p.ready(); err != nil {
		return err
	}
	if b := p.breakpoints[addr]; b != nil {
		b.count++
		return nil
	}
	if err := p.list(); err != nil { // a thread that is not known yet may be there
		return err
	}
	b := &breakpoint{count: 1, set: p.runs}
	if err := p.insert(addr, b); err != nil {
		return fmt.Errorf("breakpoint at %#x: %w", addr, err)
	}
	p.breakpoints[addr] = b
	return nil
}

// ClearBreakpoint implements [inferior.Process].
func (p *Process) ClearBreakpoint(addr uint64) error {
	if err := p.ready(); err != nil {
		return err
	}
	b := p.breakpoints[addr]
	if b == nil {
		return fmt.Errorf("no breakpoint is at %#x", addr)
	}
	if b.count--; b.count > 0 {
		return nil
	}
	if err := p.remove(addr, b); err != nil {
		b.count++
		return fmt.Errorf("take away the breakpoint at %#x: %w", addr, err)
	}
	delete(p.breakpoints, addr)
	p.events = slices.DeleteFunc(p.events, func(e inferior.Event) bool {
		t, ok := e.Thread.(*Thread)
		if !ok || e.Kind != inferior.Breakpoint {
			return false
		}
		if pc, err := t.register(p.Arch().PC); err != nil || pc != addr {
			return false
		}
		t.ran = p.runs + 1 // it comes there once more
		return true
	})
	return nil
}

// insert has the stub put a breakpoint, or writes it to memory.
func (p *Process) insert(addr uint64, b *breakpoint) error {
	code := p.Arch().Control.Breakpoint
	if b.original == nil {
		err := p.target.InsertBreakpoint(p.first(), addr, len(code))
		if !errors.Is(err, remote.ErrNoBreakpoints) {
			return err
		}
		original := make([]byte, len(code))
		if _, err := p.memory.ReadMemory(addr, original); err != nil {
			return err
		}
		b.original = original
	}
	_, err := p.memory.inner().WriteMemory(addr, code)
	return err
}

func (p *Process) remove(addr uint64, b *breakpoint) error {
	if b.original != nil {
		_, err := p.memory.inner().WriteMemory(addr, b.original)
		return err
	}
	return p.target.RemoveBreakpoint(p.first(), addr, len(p.Arch().Control.Breakpoint))
}

// first returns the thread that has stopped last.
func (p *Process) first() *remote.Thread {
	threads, _ := p.target.Threads()
	return threads[0].(*remote.Thread)
}

// here returns the breakpoint at which a thread stands that is not to stop there, nil if there is
// none.
func (p *Process) here(t *Thread) (b *breakpoint, pc uint64, err error) {
	candidate := t.mayPass
	for _, b := range p.breakpoints {
		candidate = candidate || b.set >= t.ran
	}
	if len(p.breakpoints) == 0 || !candidate {
		return nil, 0, nil
	}
	if pc, err = t.register(p.Arch().PC); err != nil {
		return nil, 0, err
	}
	if b = p.breakpoints[pc]; b != nil && (t.mayPass || b.set >= t.ran) {
		return b, pc, nil
	}
	return nil, 0, nil
}

// stepOver has a thread execute the instruction at which a breakpoint is, while all others stand
// still. It reports whether the thread has only done so: else there is an event.
func (p *Process) stepOver(t *Thread, b *breakpoint, pc uint64) (only bool, err error) {
	sp, err := t.register(p.Arch().SP)
	if err != nil {
		return false, err
	}
	if err := p.remove(pc, b); err != nil {
		return false, err
	}
	named, step := p.named, p.step
	p.named, p.step = t, true
	p.ran(t)
	err = p.target.Run(remote.Action{Thread: t.Thread, Step: true})
	stepped := false
	if err == nil {
		p.running = true
		// An instruction that makes a system call may take its time: the thread is in it, then, and
		// no event has happened.
		stepped, err = p.await(stepPatience)
	}
	p.named, p.step = named, step
	if p.gone || err != nil || p.breakpoints[pc] != b {
		return false, err
	}
	if err := p.insert(pc, b); err != nil {
		return false, err
	}
	if now, err := t.register(p.Arch().PC); err == nil && now == pc && !stepped {
		t.mayPass = true // a signal came first
	}
	if stepped || len(p.events) > 0 {
		return stepped && len(p.events) == 0, nil
	}
	t.passing = &passing{pc, sp}
	return true, nil
}
