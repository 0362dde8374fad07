package stub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// Process is a process that a stub controls. It implements [inferior.Process].
type Process struct {
	target  *remote.Target
	memory  memory
	threads map[*remote.Thread]*Thread
	timeout time.Duration

	breakpoints map[uint64]*breakpoint
	runs        int  // how often threads were resumed
	stale       bool // the list of threads is of before they were

	// What threads do that were resumed last.
	running bool
	named   *Thread         // inferior.Resume's
	step    bool            // it makes a step
	again   []remote.Action // what is resumed after something that is no event
	vfork   *Thread         // waits until its child no longer uses the process's memory

	events []inferior.Event // that have happened, and of which nobody was told
	owed   bool             // an interrupt was sent that has stopped nothing yet
	gone   bool             // there is no process any more
	proven bool             // the stub writes registers: see arrive
	closed bool
}

var _ inferior.Process = (*Process)(nil)

// Dial connects to a stub, stops the process if it runs, and holds it. ctx bounds Dial alone.
// o.Control is implied. Options.Resume says that the process shall go on after Close though the
// stub held it before: gdbserver does not tell whether the process ran before that.
func Dial(ctx context.Context, addr string, o remote.Options) (*Process, error) {
	o.Control = true
	t, err := remote.Dial(ctx, addr, o)
	if err != nil {
		return nil, err
	}
	p := &Process{target: t, threads: map[*remote.Thread]*Thread{}, breakpoints: map[uint64]*breakpoint{}, timeout: o.Timeout}
	if p.timeout <= 0 {
		p.timeout = remote.DefaultTimeout
	}
	p.memory.process = p
	threads, _ := t.Threads()
	for _, th := range threads {
		p.thread(th.(*remote.Thread))
	}
	if err := t.KeepSignals(); err != nil {
		t.Close()
		return nil, fmt.Errorf("remote %s: %w", addr, err)
	}
	return p, nil
}

// Arch returns the process's architecture.
func (p *Process) Arch() *arch.Arch { return p.target.Arch() }

// PID returns the process's ID as the stub tells it.
func (p *Process) PID() int { return p.target.PID }

// Memory returns the process's memory, a [target.WritableMemory].
func (p *Process) Memory() target.Memory { return &p.memory }

// Modules returns what was mapped when Dial connected, or at the last Remap.
func (p *Process) Modules() *target.Modules { return p.target.Modules() }

// Remap asks the stub anew what is mapped: the process may have loaded libraries since. That takes
// a dozen packets.
func (p *Process) Remap() error {
	if err := p.ready(); err != nil {
		return err
	}
	return p.target.Remap()
}

// EntryPoint implements [inferior.Process].
func (p *Process) EntryPoint() (uint64, error) { return p.target.EntryPoint() }

// Exe returns the program's path as the stub tells it, or else [remote.Options].Exe.
func (p *Process) Exe() string { return p.target.Exe }

// StopSignal returns the signal for which the process stood still when Dial connected, as Linux
// numbers signals, and its name; 0 if there is none.
func (p *Process) StopSignal() (number int, name string) {
	return p.target.StopSignal, p.target.StopName
}

// Auxv reads the process's auxiliary vector (getauxval(3)). Many stubs have none.
func (p *Process) Auxv() ([]byte, error) { return p.target.Auxv() }

// Warnings returns what the user should know about the answers so far, one sentence each.
func (p *Process) Warnings() []string {
	list := p.target.Warnings()
	if err := p.target.Misplaced(); err != nil {
		list = append(list, fmt.Sprintf("what functions change of the processor's other registers stays changed: %v", err))
	}
	return list
}

// Threads returns the threads, each a [*Thread].
func (p *Process) Threads() ([]target.Thread, error) {
	if err := p.list(); err != nil {
		return nil, err
	}
	threads, err := p.target.Threads()
	for i, t := range threads {
		threads[i] = p.thread(t.(*remote.Thread))
	}
	return threads, err
}

// Inferiors implements [inferior.Process].
func (p *Process) Inferiors() []inferior.Thread {
	if p.gone || p.closed {
		return nil
	}
	p.list() // if it fails, the threads are the same as before
	var list []inferior.Thread
	threads, _ := p.target.Threads()
	for _, t := range threads {
		list = append(list, p.thread(t.(*remote.Thread)))
	}
	return list
}

// list asks for the threads if some have run since.
func (p *Process) list() error {
	if !p.stale || p.gone || p.closed || p.running {
		return nil
	}
	if err := p.target.ListThreads(); err != nil {
		return err
	}
	p.stale = false
	known := map[*remote.Thread]*Thread{}
	threads, _ := p.target.Threads()
	for _, t := range threads {
		known[t.(*remote.Thread)] = p.thread(t.(*remote.Thread))
	}
	p.threads = known
	return nil
}

// thread returns one of the target's threads as this package's.
func (p *Process) thread(t *remote.Thread) *Thread {
	if p.threads[t] == nil {
		p.threads[t] = &Thread{Thread: t, process: p, ran: p.runs}
	}
	return p.threads[t]
}

var (
	errClosed  = errors.New("the process was let go")
	errGone    = errors.New("there is no process any more")
	errRunning = errors.New("the process runs: wait for an event first")
)

// ready returns an error unless the process stands still.
func (p *Process) ready() error {
	switch {
	case p.closed:
		return errClosed
	case p.gone:
		return errGone
	case p.running:
		return errRunning
	}
	return nil
}

// Close lets the process go, as [inferior.Process] says. A process that the stub held before Dial
// stays stopped, unless Options.Resume is set, if the stub can leave it so.
func (p *Process) Close() error {
	if p.closed {
		return nil
	}
	err := p.putBack()
	p.closed = true
	if closeErr := p.target.Close(); err == nil && !p.gone {
		err = closeErr
	}
	return err
}

// putBack makes the process what it was.
func (p *Process) putBack() error {
	if p.gone {
		return nil
	}
	p.target.Resync()
	var first error
	note := func(err error) {
		if first == nil && !p.gone {
			first = err
		}
	}
	note(p.halt())
	note(p.list())
	for _, t := range p.threads {
		if len(t.saved) > 0 && !p.gone {
			t.saved = t.saved[:1]
			note(t.Restore())
		} else if !p.gone {
			note(p.arrive(t))
		}
	}
	for addr, b := range p.breakpoints {
		b.count = 1
		note(p.ClearBreakpoint(addr))
	}
	note(p.deliver())
	return first
}

// halt stops the threads, and takes the interrupts that are under way.
func (p *Process) halt() error {
	p.events = nil
	if p.running {
		if _, err := p.stopNow(); err != nil {
			return err
		}
	}
	// Without it, the interrupt would end the process later.
	for range 2 {
		if !p.owed || p.gone {
			break
		}
		if err := p.target.Run(remote.Action{}); err != nil {
			return err
		}
		p.ranAll()
		if _, err := p.await(stepPatience); err != nil {
			return err
		}
	}
	p.events, p.owed = nil, false
	return nil
}

// deliver has the threads get the signals that wait: each executes one instruction, the first of a
// handler if there is one.
func (p *Process) deliver() error {
	for _, t := range p.threads {
		for range 3 {
			if t.pending == 0 || p.gone {
				break
			}
			signal := t.pending
			t.pending = 0
			p.runs++
			p.stale, p.named, p.step = true, t, true
			if err := p.target.Run(remote.Action{Thread: t.Thread, Step: true, Signal: signal}); err != nil {
				return err
			}
			p.running = true
			if _, err := p.await(p.timeout); err != nil {
				return err
			}
		}
	}
	return nil
}
