package external

import (
	"fmt"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator has a plug-in decorate the stacks of one process. It implements [language.Decorator].
type Decorator struct {
	plugin *Plugin
	about  Target
}

var _ language.Chooser = (*Decorator)(nil)

// Decorator returns the decorator that asks the plug-in about one process. It returns nil if the
// plug-in decorates no stacks.
func (p *Plugin) Decorator(t Target) *Decorator {
	if p.Description.Decorates == nil {
		return nil
	}
	return &Decorator{plugin: p, about: t}
}

// Name implements [language.Decorator] by what the plug-in calls its language.
func (d *Decorator) Name() string { return d.plugin.Description.Decorates.Language }

// Wants implements [language.Chooser] by the patterns of the plug-in's description.
func (d *Decorator) Wants(m *target.Module) bool {
	return matches(d.plugin.Description.Decorates.Modules, m.Path)
}

// Find implements [language.Decorator]. It opens a session with the plug-in for the run time. Once
// the plug-in is out of use, it finds nothing; [Plugin.Err] says why.
func (d *Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if d.plugin.fault.Load() != nil || !d.plugin.knows(p.Arch) {
		return nil, nil
	}
	x, err := d.plugin.newSession(d.about)
	if err != nil {
		d.plugin.fail(err)
		return nil, nil
	}
	x.about = &asked{arch: p.Arch, modules: p.Modules, memory: p.Memory}
	x.most, x.runtime = protocol.MaxStackRequests, m
	ready, err := x.ready()
	switch {
	case err != nil:
		x.cancel()
		d.plugin.fail(fmt.Errorf("%w (asked about %s)", err, clean(m.Path, 200)))
		return nil, nil
	case ready.NoRunTime:
		x.cancel()
		return nil, nil
	case ready.Declines != "":
		x.cancel()
		return nil, fmt.Errorf("plug-in %s: %s", d.plugin.Description.Name, clean(ready.Declines, 200))
	}
	r := &runTime{decorator: d, arch: p.Arch, modules: p.Modules, session: x}
	if d.plugin.Description.Decorates.Tasks {
		return []language.Runtime{tasker{r}}, nil
	}
	return []language.Runtime{r}, nil
}

// runTime is a run time that the plug-in has found. It decorates one stack at a time.
type runTime struct {
	decorator *Decorator
	arch      *arch.Arch
	modules   *target.Modules

	asking  sync.Mutex
	session *session
}

// Decorate implements [language.Runtime].
func (r *runTime) Decorate(s *language.Stack) (*language.Decoration, error) {
	var d decorated
	if !r.ask(fmt.Sprintf("the stack of thread %d", s.Thread.ID()), func(x *session) (err error) {
		d, err = x.decorate(s, r.modules)
		return err
	}) {
		return nil, nil
	}
	return d.decoration, d.fails
}

// ask calls f with the session, and reports whether there is an answer. An error of f puts the
// plug-in out of use, and so do answers that have taken too long in all.
func (r *runTime) ask(about string, f func(*session) error) bool {
	r.asking.Lock()
	defer r.asking.Unlock()
	p := r.decorator.plugin
	if p.fault.Load() != nil {
		return false
	}
	begin := time.Now()
	err := f(r.session)
	spent, total := p.spent.Add(int64(time.Since(begin))), p.opts.Total
	if err == nil && total > 0 && time.Duration(spent) > total {
		err = fmt.Errorf("%w: all of its answers have taken more than %v", ErrDeadline, total)
	}
	if err != nil {
		p.fail(fmt.Errorf("%w (asked about %s)", err, about))
	}
	return err == nil
}

// decorate sends a stack and returns what the plug-in says of it, checked. The error puts the
// plug-in out of use.
func (x *session) decorate(s *language.Stack, modules *target.Modules) (d decorated, err error) {
	x.about = &asked{arch: s.Arch, modules: modules, memory: s.Memory}
	x.number++
	d.limits(s)
	left, requests := x.plugin.opts.Deadline, 0
	m, sent := x.page(s, 0)
	for pages := 0; ; {
		reply, n, err := x.exchange(m, left)
		if err != nil {
			return d, err
		}
		left = x.left
		if requests += n; requests > protocol.MaxStackRequests {
			return d, nonsense("more than %d requests for one stack", protocol.MaxStackRequests)
		}
		switch page := reply.GetDecoration(); {
		case page == nil && reply.GetGoOn() != nil && pages == 0 && sent < len(s.Frames):
			m, sent = x.page(s, sent)
		case page == nil:
			return d, nonsense("%T where a decoration was wanted", reply.Message)
		case page.Number != x.number:
			return d, nonsense("a decoration of stack %d, where %d was asked", page.Number, x.number)
		case pages == protocol.MaxPages:
			return d, nonsense("a decoration with more than %d pages", protocol.MaxPages)
		default:
			if err := d.add(page); err != nil || !page.More {
				return d, err
			}
			pages++
			m = &protocol.FromHost{Message: &protocol.FromHost_GoOn{GoOn: &protocol.Continue{}}}
		}
	}
}

// page returns the page of a stack that begins with a level, and the level where the next one
// begins.
func (x *session) page(s *language.Stack, from int) (m *protocol.FromHost, next int) {
	next = min(from+protocol.MaxPage, len(s.Frames))
	page := &protocol.Stack{
		Number: x.number, Thread: int32(s.Thread.ID()), From: uint32(from), More: next < len(s.Frames), Whole: s.Whole, Locals: s.Locals,
	}
	for _, f := range s.Frames[from:next] {
		page.Frames = append(page.Frames, x.frame(f))
	}
	return &protocol.FromHost{Message: &protocol.FromHost_Stack{Stack: page}}, next
}

func (x *session) frame(f *frame.Frame) *protocol.StackFrame {
	m := &protocol.StackFrame{Pc: f.PC(), Block: f.AddressInBlock()}
	m.Cfa, _ = f.CFA()
	if sp := f.Register(x.about.arch.SP); sp.Known() {
		m.Sp = sp.Bits
	}
	if f.Type() == frame.SigTramp {
		m.Type = protocol.FrameType_SIGNAL
	}
	for _, r := range x.plugin.Description.Decorates.Registers {
		if v := f.Register(r); v.Known() {
			m.Registers, m.Values = append(m.Registers, uint32(r)), append(m.Values, v.Bits)
		}
	}
	return m
}
