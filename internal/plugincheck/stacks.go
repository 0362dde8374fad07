package plugincheck

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of the walks of one process.
const (
	maxThreads = 64
	maxFrames  = 2000
	maxAsked   = 100 // questions that are repeated
)

// walked is a frame of a stack.
type walked struct {
	pc, cfa uint64
	sniffer string
	flags   trad.Flags
	code    bool // PC is in mapped code
}

// stack is the stack of one thread.
type stack struct {
	frames []walked
	stop   string
	whole  bool
}

func walk(s *subject, th target.Thread, table *frame.Table) (out stack, err error) {
	x, err := frame.New(s, th, table)
	if err != nil {
		return out, err
	}
	x.Limit = maxFrames
	f, err := x.Frame(0)
	for ; f != nil; f, err = f.Prev() {
		cfa, _ := f.CFA()
		out.frames = append(out.frames, walked{f.PC(), cfa, f.Sniffer(), f.Row().Flags, s.Modules().IsCode(f.AddressInBlock())})
		out.stop, out.whole = f.StopReason().String(), f.StopReason().Whole()
	}
	if err != nil {
		out.stop = err.Error()
	}
	return out, nil
}

// stacks has the host walk every stack with the plug-in and without.
func (c *checker) stacks() finding {
	p, err := external.Start(c.ctx, external.Options{
		Path: c.path, SHA256: c.o.SHA256, Host: c.o.Host, StartTimeout: startLimit, Deadline: answerLimit,
		Trace: func(x external.Exchange) { c.heard(x) },
	})
	if err != nil {
		return fail(fixStart, "%v", err)
	}
	defer p.Close()
	stacks, frames := 0, 0
	for _, s := range c.subjects {
		without, with := sniffer.Table(s.Arch()), sniffer.Table(s.Arch())
		x := p.Sniffer(s.about)
		external.Insert(with, x)
		c.walking = s
		threads, err := s.Threads()
		if err != nil {
			return fail("", "%s: %v", s.name, err)
		}
		for _, th := range threads[:min(len(threads), maxThreads)] {
			a, err := walk(s, th, without)
			if err != nil {
				continue // a thread without registers
			}
			b, err := walk(s, th, with)
			if err != nil {
				continue
			}
			if err := p.Err(); err != nil {
				return fail(fixHost, "%v", err)
			}
			f, n := c.compare(fmt.Sprintf("%s, thread %d", s.name, th.ID()), p.Description.Name, &a, &b, s)
			if f != nil {
				return *f
			}
			stacks, frames = stacks+1, frames+n
		}
	}
	c.report.Claimed = frames
	return pass("%d stacks are as they are without it, but for %d frames that it claims", stacks, frames)
}

// heard keeps a question of the host and its answer.
func (c *checker) heard(x external.Exchange) {
	c.questions++
	c.requests += x.Requests
	if x.Answer == nil || x.Err != nil {
		return
	}
	answer := proto.Clone(x.Answer).(*protocol.Answer)
	answer.Number = 0
	c.asked = append(c.asked, asked{c.walking, proto.Clone(x.Question).(*protocol.Question), answer, x.Requests})
}

// compare compares b, the stack with the plug-in, with a, the stack without. It counts the frames
// that the plug-in has claimed.
func (c *checker) compare(where, name string, a, b *stack, s *subject) (*finding, int) {
	own := 0
	trouble := func(fix, format string, args ...any) (*finding, int) {
		f := fail(fix, "%s: %s", where, fmt.Sprintf(format, args...))
		return &f, own
	}
	for i, f := range b.frames {
		if f.sniffer != name {
			continue
		}
		own++
		if i > 0 && f.flags&(trad.OtherStack|trad.Signal) == 0 && b.frames[i-1].flags&(trad.OtherStack|trad.Signal) == 0 &&
			s.Arch().InnerThan(f.cfa, b.frames[i-1].cfa) {
			return trouble("the CFA is where SP was before the call to THIS: outward of all that THIS has on the stack",
				"frame %d at %#x has its CFA at %#x, inside of frame %d's, %#x", i, f.pc, f.cfa, i-1, b.frames[i-1].cfa)
		}
		last := i == len(b.frames)-1
		switch {
		case last && f.flags&trad.Outermost == 0 && !b.whole:
			return trouble("a row must lead to PREVIOUS: look at the CFA and at where the return address is; a frame that is the last has outermost",
				"frame %d at %#x leads nowhere: %s", i, f.pc, b.stop)
		case !last && !b.frames[i+1].code:
			return trouble("a row must lead to PREVIOUS: look at the CFA and at where the return address is",
				"frame %d at %#x leads to %#x, which is no code", i, f.pc, b.frames[i+1].pc)
		}
	}
	// The frame before the first one that differs was unwound in two ways. If the stack without the
	// plug-in has only a guess for it, or nothing, the plug-in may know better.
	for i := range max(len(a.frames), len(b.frames)) {
		var culprit int
		var fault string
		switch {
		case i >= len(a.frames):
			return nil, own // the plug-in knows more
		case i >= len(b.frames):
			culprit, fault = i-1, fmt.Sprintf("ends the stack; %%s, which knows it, leads to %#x", a.frames[i].pc)
		case a.frames[i].pc != b.frames[i].pc:
			culprit, fault = i-1, fmt.Sprintf("leads to %#x; %%s, which knows it, leads to %#x", b.frames[i].pc, a.frames[i].pc)
		case a.frames[i].cfa != b.frames[i].cfa:
			culprit, fault = i, fmt.Sprintf("has its CFA at %#x; %%s, which knows it, has it at %#x", b.frames[i].cfa, a.frames[i].cfa)
		default:
			continue
		}
		f, was := &b.frames[max(culprit, 0)], &a.frames[max(culprit, 0)]
		if f.sniffer != name || was.sniffer == "" || was.flags&trad.Guess != 0 {
			return nil, own
		}
		return trouble("claim your own code only, or stand behind the sniffers that know this code (Description.before)",
			"frame %d at %#x "+fault, culprit, f.pc, was.sniffer)
	}
	return nil, own
}

// claims checks that the plug-in claims any frames. Without claims, the checks that follow mean
// little.
func (c *checker) claims() finding {
	const fix = "save a process whose frames it claims, 'sfwalk attach --save FILE PID', and check with --snapshot FILE"
	switch {
	case c.unwindsNone():
		return skip("it unwinds no frame")
	case c.report.Claimed > 0:
		return pass("it claims %d frames", c.report.Claimed)
	case len(c.o.Snapshots) > 0:
		return warn(fix, "it claims no frame of any stack, of the snapshots neither")
	}
	f := skip("it claims no frame of the stacks that are bundled: its rows are not tested")
	f.fix = fix
	return f
}

var errNobody = errors.New("nothing was asked")
