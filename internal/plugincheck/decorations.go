package plugincheck

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target"
)

// What to fix where a plug-in decorates stacks.
const (
	fixAnchor = "an anchor is an address on this thread's stack, or a physical frame's level, PC and CFA: look for the thread that a record belongs to"
	fixFind   = "say in Find what cannot be read, and ErrNoRuntime of a file that is no run time"
	fixTimed  = "timed says that the thread which waits for a lock gives up when a time is over: leave it out of holds"
	fixQuick  = "a thread may be held meanwhile: find out in Find, and keep what holds for other stacks"
	fixSaved  = "save a process whose frames it knows, 'sfwalk attach --save FILE PID', and check with --snapshot FILE"
)

// decorating is a plug-in that decorates stacks, as the host runs it.
type decorating struct {
	*external.Plugin
	stacks []*decoratedStack
}

// decoratedStack is the stack of a thread, with what the plug-in says of it.
type decoratedStack struct {
	where    string
	stack    *language.Stack
	runtimes []language.Named
	said     *language.Decorated
}

// unwindsNone reports whether the plug-in decorates stacks, and claims no frame anywhere.
func (c *checker) unwindsNone() bool {
	d := c.description
	return d.GetDecorates() != nil && d.Claims != nil && !d.Claims.OutsideModules && len(d.Claims.Modules) == 0
}

// startDecorating starts the plug-in once more, as the host does.
func (c *checker) startDecorating() (*decorating, error) {
	p, err := external.Start(c.ctx, external.Options{
		Path: c.path, SHA256: c.o.SHA256, Host: c.o.Host, StartTimeout: startLimit, Deadline: answerLimit,
	})
	if err != nil {
		return nil, err
	}
	return &decorating{Plugin: p}, nil
}

// decorates has the host decorate every stack.
func (c *checker) decorates() finding {
	if c.description.GetDecorates() == nil {
		return skip("it decorates no stacks")
	}
	var err error
	if c.decorating, err = c.startDecorating(); err != nil {
		return fail(fixStart, "%v", err)
	}
	d := c.decorating
	frames, decorated := 0, 0
	slowest, slowestAt := time.Duration(0), ""
	for _, s := range c.subjects {
		runtimes, err := d.find(s, s.Memory())
		if fault := d.Err(); fault != nil {
			return fail(fixHost, "%v", fault)
		}
		if err != nil {
			return warn(fixFind, "%s: %v", s.name, err)
		}
		if len(runtimes) == 0 {
			continue
		}
		threads, err := s.Threads()
		if err != nil {
			return fail("", "%s: %v", s.name, err)
		}
		for _, th := range threads[:min(len(threads), maxThreads)] {
			stack, err := languageStack(s, th)
			if err != nil {
				continue // a thread without registers
			}
			x := &decoratedStack{where: fmt.Sprintf("%s, thread %d", s.name, th.ID()), stack: stack, runtimes: runtimes}
			begin := time.Now()
			x.said = language.Decorate(stack, runtimes)
			took := time.Since(begin)
			for i := 0; i < 4 && took > max(slow, slowest); i++ {
				took = min(took, d.takes(s, stack))
			}
			if took > slowest {
				slowest, slowestAt = took, x.where
			}
			d.stacks = append(d.stacks, x)
			switch {
			case d.Err() != nil:
				return fail(fixHost, "%s: %v", x.where, d.Err())
			case x.said == nil:
				continue
			case x.misplaced() && stack.Whole:
				return fail(fixAnchor, "%s: %s", x.where, strings.Join(x.said.Warnings, "; "))
			case x.holdsTimed():
				return warn(fixTimed, "%s: a lock that is held is timed", x.where)
			case len(x.said.Warnings) > 0:
				return warn("give all frames of the stacks that can be read", "%s: %s", x.where, strings.Join(x.said.Warnings, "; "))
			}
			decorated++
			for _, place := range x.said.At {
				frames += len(place.Frames)
			}
		}
	}
	c.report.Decorated = frames
	what := fmt.Sprintf("%s of %s, in %s, the slowest of which took %v (%s)", count.Of(frames, "frame"), c.description.Decorates.Language,
		count.Of(decorated, "stack"), slowest.Round(time.Microsecond), slowestAt)
	switch {
	case slowest > deadline:
		return fail(fixQuick, "%s: the host waits for %v", what, deadline)
	case frames > 0 && slowest > slow:
		return warn(fixQuick, "%s", what)
	case frames > 0:
		return pass("%s", what)
	case len(c.o.Snapshots) > 0:
		return warn(fixSaved, "it knows no frame of any stack, of the snapshots neither")
	}
	f := skip("it knows no frame of the stacks that are bundled: what it says of stacks is not tested")
	f.fix = fixSaved
	return f
}

func (d *decorating) find(s *subject, memory target.Memory) ([]language.Named, error) {
	return language.Find(&language.Process{Arch: s.Arch(), Memory: memory, Modules: s.Modules()}, []language.Decorator{d.Decorator(s.about)})
}

// takes returns how long the plug-in takes for a stack of a process that has just begun, of which
// it keeps nothing. A busy machine is slow once: a slow plug-in is slow each time.
func (d *decorating) takes(s *subject, stack *language.Stack) time.Duration {
	runtimes, err := d.find(s, s.Memory())
	if err != nil || d.Err() != nil {
		return answerLimit // the next answer has the reason
	}
	begin := time.Now()
	language.Decorate(stack, runtimes)
	return time.Since(begin)
}

// languageStack walks a thread by sfwalk's own sniffers.
func languageStack(s *subject, th target.Thread) (*language.Stack, error) {
	stack, err := frame.New(s, th, sniffer.Table(s.Arch()))
	if err != nil {
		return nil, err
	}
	stack.Limit = maxFrames
	to := &language.Stack{Arch: s.Arch(), Thread: th, Memory: target.MemoryOf(s, th), Locals: true}
	for f, err := range stack.All() {
		if err != nil {
			break
		}
		to.Frames = append(to.Frames, f)
		to.Whole = f.StopReason().Whole()
	}
	return to, nil
}

// misplaced reports whether frames have no place in the stack.
func (x *decoratedStack) misplaced() bool {
	for _, text := range x.said.Warnings {
		if strings.Contains(text, language.NoPlace) {
			return true
		}
	}
	return false
}

// holdsTimed reports whether the thread holds a lock for a time, which means nothing.
func (x *decoratedStack) holdsTimed() bool {
	for _, t := range x.said.Threads {
		if slices.ContainsFunc(t.Holds, func(l language.Lock) bool { return l.Timed }) {
			return true
		}
	}
	return false
}

// decoratesAgain decorates the same stacks a second time.
func (c *checker) decoratesAgain() finding {
	if c.decorating == nil || len(c.decorating.stacks) == 0 {
		return skip("it has decorated no stack")
	}
	for _, x := range c.decorating.stacks {
		again := language.Decorate(x.stack, x.runtimes)
		if err := c.decorating.Err(); err != nil {
			return fail(fixHost, "%s: %v", x.where, err)
		}
		if !reflect.DeepEqual(again, x.said) {
			return fail(fixSame, "%s: two decorations of the same stack", x.where)
		}
	}
	return pass("the same stacks are decorated in the same way")
}

// decoratesCut decorates stacks whose memory cannot be read, and stacks of which only the innermost
// frame is known. What it finds of them does not matter; that it answers does.
func (c *checker) decoratesCut() finding {
	if c.decorating == nil || len(c.decorating.stacks) == 0 {
		return skip("it has decorated no stack")
	}
	for _, s := range c.subjects {
		blind := s.blind()
		if _, err := c.decorating.find(s, blind.Memory()); c.decorating.Err() != nil {
			return fail(fixDies, "%s: %v", blind.name, c.decorating.Err())
		} else if err != nil {
			continue // it says so
		}
	}
	for _, x := range c.decorating.stacks {
		for _, cut := range []struct {
			how   string
			stack language.Stack
		}{
			{"whose memory cannot be read", language.Stack{Arch: x.stack.Arch, Thread: x.stack.Thread, Memory: new(nowhere), Frames: x.stack.Frames}},
			{"of which one frame is known", language.Stack{Arch: x.stack.Arch, Thread: x.stack.Thread, Memory: x.stack.Memory, Frames: x.stack.Frames[:1]}},
		} {
			said := language.Decorate(&cut.stack, x.runtimes)
			if err := c.decorating.Err(); err != nil {
				return fail(fixDies, "%s, a stack %s: %v", x.where, cut.how, err)
			}
			if said != nil && len(said.Warnings) == 0 && cut.stack.Memory != x.stack.Memory && reflect.DeepEqual(said.At, x.said.At) {
				return warn("read a stack's memory by Stack, each time: it may be another moment's", "%s: it says the same of a stack %s", x.where, cut.how)
			}
		}
	}
	return pass("stacks that cannot be read in part do not confuse it")
}
