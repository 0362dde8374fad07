package plugincheck

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// unknownProcess asks about a process that the plug-in knows nothing of.
func (c *checker) unknownProcess() finding {
	for _, a := range c.architectures {
		x, ready, err := c.open(unknown(a))
		if err != nil {
			return fail("Begin must be answered by Ready, for any process: decline where you cannot say anything", "%s: %v", a.Name, err)
		}
		x.cancel()
		if !showable(ready.Declines) || len(ready.Declines) > 200 {
			return fail("say in one short line why", "%s: it declines by %q", a.Name, shown(ready.Declines, 80))
		}
		if len(ready.Never) > protocol.MaxNever {
			return fail(fmt.Sprintf("announce %d ranges at most", protocol.MaxNever), "%s: %d ranges that it never claims", a.Name, len(ready.Never))
		}
	}
	return pass("PID 0, no file, no memory: it begins")
}

// oddAddresses asks about addresses where no code can be.
func (c *checker) oddAddresses() finding {
	n := 0
	list := slices.Clone(c.subjects)
	for _, a := range c.architectures {
		list = append(list, unknown(a))
	}
	for _, s := range list {
		x, ready, err := c.open(s)
		if err != nil {
			return fail(fixDies, "%v", err)
		}
		if ready.Declines != "" {
			x.cancel()
			continue
		}
		for _, q := range oddQuestions(s.Arch()) {
			answer, err := x.ask(q)
			if err != nil {
				return fail(fixDies, "%v", c.child.explain(err))
			}
			n++
			if answer.Row != nil || answer.Frame != nil {
				return fail("claim a frame only where its PC is in code that you know", "%s: asked about %#x, where no code is, it claims: %s", s.name, q.Pc, short(answer))
			}
			if answer.Declines == "" {
				return fail("say why: it is what --explain shows", "%s: asked about %#x, it declines without a word", s.name, q.Pc)
			}
		}
		x.cancel()
	}
	if n == 0 {
		return skip("it declines all processes at hand")
	}
	return pass("%d questions about 0, 1, the stack, the end of the address space: it declines", n)
}

// oddQuestions returns questions about addresses without code.
func oddQuestions(a *arch.Arch) (list []*protocol.Question) {
	const sp = 0x7ffd_0000_1000
	for _, pc := range []uint64{0, 1, 0xfff, sp, sp - 1, 1 << 47, 0xdead_beef_dead_beef, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
		q := &protocol.Question{Pc: pc, Block: pc}
		for r := range trad.Reg(arch.MaxReg) {
			switch r {
			case a.PC:
				q.Registers, q.Values = append(q.Registers, uint32(r)), append(q.Values, pc)
			case a.SP, a.FP:
				q.Registers, q.Values = append(q.Registers, uint32(r)), append(q.Values, sp)
			}
		}
		caller := &protocol.Question{Pc: pc, Block: pc - 1, Level: math.MaxUint32, NextCfa: sp, Registers: q.Registers, Values: q.Values, Stack: &protocol.Block{Address: sp}}
		bare := &protocol.Question{Pc: pc, Block: pc, Level: 1} // without registers
		list = append(list, q, caller, bare)
	}
	return list
}

// manyModules asks about a process with more files than one message takes.
func (c *checker) manyModules() finding {
	begin := time.Now()
	about := crowded(c.architectures[0], 5000)
	x, ready, err := c.open(about)
	if err != nil {
		return fail("List is answered in parts: ask on from Modules.more until that is 0", "%v", err)
	}
	defer x.cancel()
	took := time.Since(begin)
	if ready.Declines == "" {
		pc := about.Modules().All()[4000].Mappings[1].Lo + 16
		if _, err := x.ask(&protocol.Question{Pc: pc, Block: pc}); err != nil {
			return fail(fixDies, "%v", c.child.explain(err))
		}
	}
	if took > 4*deadline {
		return warn("ask for what you need only: by Find, or when a frame is asked about", "%s: it begins after %v", about.name, took.Round(time.Millisecond))
	}
	return pass("%s: it begins after %v", about.name, took.Round(time.Millisecond))
}

// again repeats the host's questions about a process, on a session that has begun, and compares the
// answers with the host's.
func (c *checker) again(x *session, list []asked) error {
	for _, was := range list {
		answer, err := x.ask(was.question)
		if err != nil {
			return err
		}
		if !equal(answer, was.answer) {
			return fmt.Errorf("%s, frame %d at %#x: %w: %s, and now %s", was.about.name, was.question.Level, was.question.Pc, errDiffers, short(was.answer), short(answer))
		}
	}
	return nil
}

var errDiffers = fmt.Errorf("the same question got two answers")

// each calls f with each process that the host has asked about, and the questions. It
// returns the number n of questions, and the first error.
func (c *checker) each(f func(*subject, []asked) error) (n int, err error) {
	n, err = c.all(func(s *subject, list []asked) error {
		if len(list) == 0 {
			return nil
		}
		return f(s, list)
	})
	if err == nil && n == 0 {
		err = errNobody
	}
	return n, err
}

// all is like each, but includes the processes that the host has not asked about.
func (c *checker) all(f func(*subject, []asked) error) (n int, err error) {
	for _, s := range c.subjects {
		list := c.of(s)
		list = list[:min(len(list), maxAsked)]
		if err := f(s, list); err != nil {
			return n, err
		}
		n += len(list)
	}
	return n, nil
}

// outcome returns the finding for the results of each.
func (c *checker) outcome(fix string, n int, err error, format string, args ...any) finding {
	switch {
	case err == errNobody:
		return skip("it was asked nothing about the stacks at hand")
	case err != nil && c.child != nil:
		return fail(fix, "%v", c.child.explain(err))
	case err != nil:
		return fail(fix, "%v", err)
	}
	return pass(format, args...)
}

// determinism repeats questions in one session, and in another about the same process.
func (c *checker) determinism() finding {
	n, err := c.each(func(s *subject, list []asked) error {
		first := slices.Clone(list)
		for pass := range 2 {
			x, _, err := c.open(s)
			if err != nil {
				return err
			}
			defer x.cancel()
			if pass == 0 {
				for i := range first {
					if first[i].answer, err = x.ask(first[i].question); err != nil {
						return err
					}
				}
			}
			if err := c.again(x, first); err != nil {
				return err
			}
		}
		return nil
	})
	return c.outcome(fixSame, n, err, "%d questions, asked three times in two sessions: the same answers", n)
}

// newProcess repeats questions in a new process of the plug-in.
func (c *checker) newProcess() finding {
	p, err := c.another()
	if err != nil {
		return fail(fixStart, "%v", err)
	}
	defer p.end()
	n, err := c.each(func(s *subject, list []asked) error {
		x, _, err := p.open(c.ctx, &c.counts, s)
		if err != nil {
			return err
		}
		defer x.cancel()
		return c.again(x, list)
	})
	return c.outcome(fixSame, n, err, "%d questions, to another process of it: the same answers", n)
}

// beginAgain begins one session with several processes in turn, and at the end with the first one
// again. The answers must be as after the first Begin.
func (c *checker) beginAgain() finding {
	n, err := c.all(func(s *subject, list []asked) error {
		x, _, err := c.open(s)
		if err != nil {
			return err
		}
		defer x.cancel()
		for _, other := range []*subject{s, c.subjects[0], unknown(s.Arch()), s} {
			if _, err := x.begin(other); err != nil {
				return err
			}
		}
		return c.again(x, list)
	})
	return c.outcome("Begin comes again when the process has run on: begin anew, and keep nothing", n, err, "begun five times, it answers as after the first")
}

// sessions asks in several sessions at once, about several processes.
func (c *checker) sessions() finding {
	p, err := c.running()
	if err != nil {
		return fail(fixStart, "%v", err)
	}
	type one struct {
		counts
		*session
		list []asked
		err  error
	}
	var open []*one
	defer func() {
		for _, o := range open {
			o.cancel()
		}
	}()
	n, err := c.all(func(s *subject, list []asked) (err error) {
		for range 2 {
			o := &one{list: list}
			if o.session, _, err = p.open(c.ctx, &o.counts, s); err != nil {
				return err
			}
			open = append(open, o)
		}
		return nil
	})
	var all sync.WaitGroup
	for _, o := range open {
		all.Go(func() { o.err = c.again(o.session, o.list) })
	}
	all.Wait()
	for _, o := range open {
		c.questions, c.requests = c.questions+o.counts.questions, c.requests+o.counts.requests
		if err == nil {
			err = o.err
		}
	}
	return c.outcome("sessions run at once: keep what you know in the session, and guard what they share", n, err, "%d at once, about several processes: the same answers", len(open))
}
