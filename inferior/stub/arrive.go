package stub

import (
	"context"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
)

// touch keeps what a thread's registers were before the first of them is written: see arrive.
func (t *Thread) touch() error {
	if t.before != nil || t.process.proven || !t.process.target.Keeps() {
		return nil
	}
	s, err := t.State()
	t.before = s
	return err
}

// arrive finds out whether registers that were written come to a thread. gdbserver keeps what it is
// told until the thread runs, and only warns, on its own standard error, if the kernel refuses it
// then. So arrive has the thread run where it stands, at a breakpoint, and reads it once more. If
// its state was saved for a call, vector registers get other values meanwhile: what the function
// changes of them must be put back later. One thread's answer holds for all.
func (p *Process) arrive(t *Thread) (err error) {
	if t.before == nil || p.proven || p.vfork != nil {
		return nil
	}
	before, ran, mayPass := t.before, t.ran, t.mayPass
	want, err := t.State()
	if err != nil {
		return err
	}
	pc, err := t.register(p.Arch().PC)
	if err != nil {
		return err
	}
	if p.breakpoints[pc] == nil {
		b := &breakpoint{}
		if p.insert(pc, b) != nil {
			return nil // there is no code: the thread stops at once
		}
		defer func() {
			if !p.gone {
				err = errors.Join(err, p.remove(pc, b))
			}
		}()
	}
	call := len(t.saved) > 0
	probe := t.Probe(want, call)
	if err = t.SetState(probe); err == nil {
		err = p.runWhere(t, pc)
	}
	if p.gone {
		return err
	}
	if err == nil {
		err = t.Arrived(before, probe)
	}
	if now, _ := t.register(p.Arch().PC); err == nil && len(p.events) == 0 && now != pc {
		err = fmt.Errorf("the stub answers OK to a breakpoint at %#x that it has not put: thread %d is at %#x", pc, t.ID(), now)
	}
	back := t.SetState(want)
	t.ran, t.mayPass = ran, mayPass
	if err != nil {
		return err
	}
	t.before, p.proven = nil, call
	return back
}

// runWhere has a thread run that is at a breakpoint at pc, alone, until it stops there. If
// something else happens, there is an event.
func (p *Process) runWhere(t *Thread, pc uint64) error {
	named, step := p.named, p.step
	p.named, p.step = t, true
	defer func() { p.named, p.step = named, step }()
	if err := p.target.Run(remote.Action{Thread: t.Thread, Step: true}); err != nil {
		return err
	}
	p.running = true
	ctx, cancel := context.WithTimeout(context.Background(), stepPatience)
	defer cancel()
	stop, err := p.target.Await(ctx)
	if err != nil {
		return err
	}
	if stop.Kind != remote.Stopped || stop.Signal != sigtrap || stop.Thread != t.Thread || stop.Interrupts > 0 {
		e, happened, err := p.happened(stop)
		if happened && e.Kind != inferior.Interrupted {
			p.queue(e)
		}
		return err
	}
	p.running = false
	if now, err := t.register(p.Arch().PC); err != nil || now != pc+p.Arch().Control.BehindBreakpoint {
		return err
	}
	return t.Thread.WriteRegister(p.Arch().PC, 0, p.word(pc)) // the stub leaves the thread where its processor does
}
