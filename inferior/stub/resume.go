package stub

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
)

// stepPatience is how long a thread may take to execute the instruction at a breakpoint, while all
// others stand still.
const stepPatience = time.Second

// Resume implements [inferior.Process].
func (p *Process) Resume(r inferior.Resume) error {
	if err := p.ready(); err != nil {
		return err
	}
	if len(p.events) > 0 {
		return nil // of which nobody was told
	}
	var t *Thread
	if r.Thread != nil {
		var ok bool
		if t, ok = r.Thread.(*Thread); !ok || p.threads[t.Thread] != t {
			return fmt.Errorf("resume: thread %d is not held", r.Thread.ID())
		}
		t.pending = r.Signal
	} else if r.Alone || r.Step || r.Signal != 0 {
		return errors.New("resume: which thread is to be alone, to step, or to get a signal?")
	}
	p.named, p.step = t, r.Step
	runners := p.runners(t, r.Alone)
	for _, th := range runners {
		if err := p.arrive(th); err != nil {
			return err
		}
	}
	if len(p.events) > 0 || p.gone {
		return nil // a signal came first
	}
	for _, th := range runners {
		if done, err := p.pass(th); err != nil || done {
			return err
		}
	}
	actions := p.actions(runners, r.Alone)
	for _, th := range runners {
		th.pending = 0
	}
	return p.run(actions)
}

// runners returns the threads that are to run, t last: its step may be over with that over a
// breakpoint. A thread that has begun since the last list is not among them. It has no signal yet,
// and is to stop at every breakpoint.
func (p *Process) runners(t *Thread, alone bool) (list []*Thread) {
	if !alone {
		for _, th := range p.threads {
			if th != t {
				list = append(list, th)
			}
		}
		slices.SortFunc(list, func(a, b *Thread) int { return a.ID() - b.ID() })
	}
	if t != nil {
		list = append(list, t)
	}
	return list
}

// pass has a thread leave the breakpoint at which it stands. done says that there is an event:
// nothing more is to be resumed.
func (p *Process) pass(t *Thread) (done bool, err error) {
	b, pc, err := p.here(t)
	if b == nil || err != nil {
		return false, err
	}
	if t.pending != 0 {
		sp, err := t.register(p.Arch().SP)
		if err != nil {
			return false, err
		}
		t.passing = &passing{pc, sp}
		return false, nil
	}
	only, err := p.stepOver(t, b, pc)
	if err != nil || p.gone || !only {
		return true, err
	}
	if p.named == t && p.step {
		p.events = append(p.events, p.event(inferior.Stepped, t))
		return true, nil
	}
	return false, nil
}

// actions returns what the threads do.
func (p *Process) actions(runners []*Thread, alone bool) (list []remote.Action) {
	if t := p.named; t != nil {
		list = append(list, remote.Action{Thread: t.Thread, Step: p.step, Signal: t.pending})
	}
	for _, th := range runners {
		if th.pending != 0 && th != p.named {
			list = append(list, remote.Action{Thread: th.Thread, Signal: th.pending})
		}
	}
	if !alone {
		list = append(list, remote.Action{})
	}
	return list
}

// run resumes threads, and notes what they do after something that is no event. As long as a child
// uses the process's memory, in which no breakpoints are then, its parent alone runs.
func (p *Process) run(actions []remote.Action) error {
	p.again = actions
	if p.vfork != nil {
		actions = []remote.Action{{Thread: p.vfork.Thread}}
	}
	if err := p.target.Run(actions...); err != nil {
		return err
	}
	p.running = true
	if p.vfork == nil {
		p.again = slices.Clone(actions)
		for i := range p.again {
			p.again[i].Signal = 0 // it was delivered
		}
	}
	if actions[len(actions)-1].Thread == nil {
		p.ranAll()
		return nil
	}
	for _, a := range actions {
		p.ran(p.thread(a.Thread))
	}
	return nil
}

// ran notes that a thread runs.
func (p *Process) ran(t *Thread) {
	p.runs++
	p.stale = true
	t.ran, t.mayPass, t.before = p.runs, false, nil
}

// ranAll notes that all threads run.
func (p *Process) ranAll() {
	p.runs++
	p.stale, p.running = true, true
	for _, t := range p.threads {
		t.ran, t.mayPass, t.before = p.runs, false, nil
	}
}
