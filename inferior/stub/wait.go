package stub

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
)

// Numbers of signals (signal(7)).
const (
	sigint  = 2
	sigtrap = 5
	sigstop = 19
)

// Wait implements [inferior.Process]. When ctx ends, the stub is asked to stop the process. qemu
// before release 9 does not: the error says so, and the process runs on. The end of a thread that
// does not run alone is told of when ctx ends.
func (p *Process) Wait(ctx context.Context) (inferior.Event, error) {
	switch {
	case p.closed:
		return inferior.Event{}, errClosed
	case len(p.events) > 0:
		e := p.events[0]
		p.events = p.events[1:]
		return p.told(e), nil
	case p.gone:
		return inferior.Event{}, errGone
	case !p.running:
		return inferior.Event{}, errors.New("wait: no thread was resumed")
	}
	for {
		e, happened, err := p.next(ctx)
		if err != nil {
			return inferior.Event{}, err
		}
		if happened {
			return p.told(p.exited(e)), nil
		}
		if err := p.run(p.again); err != nil {
			return inferior.Event{}, err
		}
	}
}

// exited returns the end of the thread that was to run in place of an interruption. gdbserver does
// not tell of such an end, as long as other threads run: release 13 crashes if it is asked to
// (QThreadEvents).
func (p *Process) exited(e inferior.Event) inferior.Event {
	if e.Kind == inferior.Interrupted && p.named != nil && p.list() == nil && p.threads[p.named.Thread] == nil {
		return inferior.Event{Kind: inferior.ThreadExited, TID: p.named.ID()}
	}
	return e
}

// told notes that the debugger knows of an event.
func (p *Process) told(e inferior.Event) inferior.Event {
	if t, ok := e.Thread.(*Thread); ok {
		if e.Kind == inferior.Signalled {
			t.pending = e.Signal.Number
		} else {
			t.mayPass = true
		}
	}
	return e
}

// await waits for a step of the thread that p.named is, for at most a time. It reports whether the
// step was made. If there is another event, it is in p.events.
func (p *Process) await(limit time.Duration) (stepped bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e, happened, err := p.next(ctx)
	switch {
	case err != nil || !happened:
		return false, err
	case e.Kind == inferior.Stepped:
		return true, nil
	case e.Kind != inferior.Interrupted:
		p.queue(e)
	}
	return false, nil
}

// queue keeps an event of which nobody was told yet.
func (p *Process) queue(e inferior.Event) {
	p.events = append(p.events, e)
	if t, ok := e.Thread.(*Thread); ok && e.Kind == inferior.Signalled {
		t.pending = e.Signal.Number
	}
}

// stopNow stops the process.
func (p *Process) stopNow() (happened bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, happened, err = p.next(ctx)
	return happened, err
}

// next waits for the stub's next answer. happened says that it is an event.
func (p *Process) next(ctx context.Context) (e inferior.Event, happened bool, err error) {
	stop, err := p.target.Await(ctx)
	if err != nil {
		return e, false, err
	}
	return p.happened(stop)
}

// happened says what an answer of the stub means.
func (p *Process) happened(stop remote.Stop) (e inferior.Event, happened bool, err error) {
	p.running = false
	var t *Thread
	if stop.Thread != nil {
		t = p.thread(stop.Thread)
	}
	e.TID = stop.TID
	switch stop.Kind {
	case remote.Exited, remote.Killed:
		p.gone = true
		e.Kind, e.TID, e.Status = inferior.Exited, p.target.PID, stop.Status
		if stop.Kind == remote.Killed {
			e = inferior.Event{Kind: inferior.Killed, TID: p.target.PID, Signal: inferior.Signal{Number: stop.Signal}}
		}
		return e, true, nil
	case remote.ThreadExited, remote.NoThread:
		if p.named != nil && (stop.Kind == remote.NoThread || stop.TID == p.named.ID()) {
			p.stale = true
			return inferior.Event{Kind: inferior.ThreadExited, TID: p.named.ID()}, true, nil
		}
		if stop.Kind == remote.NoThread {
			return p.event(inferior.Interrupted, nil), true, nil
		}
	case remote.Forked, remote.VForked:
		if err := p.letChildGo(stop); err != nil {
			return e, false, err
		}
		if stop.Kind == remote.VForked {
			p.vfork = t
		}
	case remote.VForkDone:
		if err := p.childDone(); err != nil {
			return e, false, err
		}
	case remote.Execed:
		clear(p.breakpoints)
		clear(p.threads)
		t = p.thread(stop.Thread)
		p.vfork, p.named, p.step = nil, nil, false
		return p.event(inferior.Execed, t), true, nil
	case remote.Stopped:
		if t != nil {
			return p.stopped(t, &stop)
		}
	}
	if stop.Interrupts > 0 {
		p.owed = true
		return p.event(inferior.Interrupted, t), true, nil
	}
	return e, false, nil
}

// event makes an event of a thread.
func (p *Process) event(kind inferior.EventKind, t *Thread) inferior.Event {
	if t == nil {
		return inferior.Event{Kind: kind}
	}
	return inferior.Event{Kind: kind, Thread: t, TID: t.ID()}
}

// stopped finds out why a thread has stopped.
func (p *Process) stopped(t *Thread, stop *remote.Stop) (e inferior.Event, happened bool, err error) {
	stepping := p.step && p.named == t
	if stop.Signal == sigtrap {
		e, happened, err := p.trap(t, stop.Breakpoint, stepping)
		if err != nil {
			return e, false, err
		}
		if stop.Interrupts > 0 {
			if e.Kind == inferior.Signalled && !stop.Breakpoint {
				return p.event(inferior.Interrupted, t), true, nil // qemu's way to stop
			}
			p.owed = true
			if !happened {
				return p.event(inferior.Interrupted, t), true, nil
			}
		}
		return e, happened, nil
	}
	switch {
	case stop.Interrupts > 0 && (stop.Signal == sigint || stop.Signal == 0 || stop.Signal == sigstop):
		// This may be an interrupt of before.
		p.owed = p.owed || stop.Interrupts > 1
		return p.event(inferior.Interrupted, t), true, nil
	case stop.Interrupts > 0:
		p.owed = true
	case p.owed && stop.Signal == sigint:
		p.owed = false
		return e, false, nil
	case stop.Signal == 0:
		return e, false, nil
	}
	t.passing = nil
	return p.signalled(t, stop.Signal), true, nil
}

// trap tells the kinds of SIGTRAP apart. said says that the stub calls it a breakpoint.
func (p *Process) trap(t *Thread, said, stepping bool) (e inferior.Event, happened bool, err error) {
	a := p.Arch()
	pc, err := t.register(a.PC)
	if err != nil {
		return e, false, err
	}
	behind := a.Control.BehindBreakpoint
	b := p.breakpoints[pc]
	if b == nil && !said && !stepping && p.breakpoints[pc-behind] != nil {
		// The stub leaves the thread where its processor does.
		pc -= behind
		if err := t.setRegister(a.PC, pc); err != nil {
			return e, false, err
		}
		b = p.breakpoints[pc]
	}
	if stepping && !said {
		t.passing = nil
		return p.event(inferior.Stepped, t), true, nil
	}
	if b != nil {
		sp, err := t.register(a.SP)
		if err != nil {
			return e, false, err
		}
		passed := t.passing != nil && *t.passing == passing{pc, sp}
		t.passing = nil
		if !passed {
			return p.event(inferior.Breakpoint, t), true, nil
		}
		// A handler has returned to where the thread was when it got the signal.
		only, err := p.stepOver(t, b, pc)
		if err != nil {
			return e, false, err
		}
		if len(p.events) > 0 {
			e, p.events = p.events[0], p.events[1:]
			return e, true, nil
		}
		if only && stepping {
			return p.event(inferior.Stepped, t), true, nil
		}
		return e, false, nil
	}
	if said {
		code := make([]byte, len(a.Control.Breakpoint))
		if _, err := p.memory.ReadMemory(pc, code); err != nil || !bytes.Equal(code, a.Control.Breakpoint) {
			// The thread has come to a breakpoint at the same time as another, and it was cleared
			// since.
			return e, false, nil
		}
		// The program's own breakpoint instruction: the stub has gone back to it.
		if err := t.setRegister(a.PC, pc+behind); err != nil {
			return e, false, err
		}
	}
	return p.signalled(t, sigtrap), true, nil
}

// signalled makes an event of a signal.
func (p *Process) signalled(t *Thread, number int) inferior.Event {
	e := p.event(inferior.Signalled, t)
	info, err := p.target.SignalInfo()
	if err != nil {
		info = nil
	}
	e.Signal = signal(number, info, p.Arch(), p.target.PID)
	return e
}

// letChildGo lets a child go, without breakpoints in its memory.
func (p *Process) letChildGo(stop remote.Stop) error {
	var list []uint64
	for addr, b := range p.breakpoints {
		if b.original == nil {
			list = append(list, addr)
		}
	}
	return p.target.LetChildGo(stop, list, len(p.Arch().Control.Breakpoint))
}

// childDone puts breakpoints again that were taken out of memory that a child used.
func (p *Process) childDone() error {
	p.vfork = nil
	for addr, b := range p.breakpoints {
		if b.original != nil {
			continue
		}
		p.remove(addr, b) // the stub takes it to be there
		if err := p.insert(addr, b); err != nil {
			return err
		}
	}
	return nil
}
