//go:build linux && (amd64 || arm64)

package delve_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/delve"
)

// shown converts Delve's own stack as its service does.
func shown(frames []proc.Stackframe) []api.Stackframe {
	list := make([]api.Stackframe, len(frames))
	for i := range frames {
		f := &frames[i]
		list[i] = api.Stackframe{
			Location:           api.ConvertLocation(f.Call),
			FrameOffset:        f.FrameOffset(),
			FramePointerOffset: f.FramePointerOffset(),
			Bottom:             f.Bottom,
			Defers:             []api.Defer{},
		}
		if f.Err != nil {
			list[i].Err = f.Err.Error()
		}
	}
	return list
}

func describe(f *api.Stackframe) string {
	return fmt.Sprintf("%#x %s %s:%d CFA %d FP %d bottom %v err %q", f.PC, f.Function.Name(), f.File, f.Line, f.FrameOffset, f.FramePointerOffset, f.Bottom, f.Err)
}

// both prints two stacks side by side.
func both(ours, delves []api.Stackframe) string {
	var b strings.Builder
	for i := range max(len(ours), len(delves)) {
		if i < len(ours) && i < len(delves) && reflect.DeepEqual(ours[i], delves[i]) {
			fmt.Fprintf(&b, "  %d both  %s\n", i, describe(&ours[i]))
			continue
		}
		if i < len(ours) {
			fmt.Fprintf(&b, "  %d ours  %s\n", i, describe(&ours[i]))
		}
		if i < len(delves) {
			fmt.Fprintf(&b, "  %d Delve %s\n", i, describe(&delves[i]))
		}
	}
	return b.String()
}

// tally counts the stacks that were compared, and the stacks that Delve has wrong.
type tally struct {
	stacks, frames int
	faults         map[string]int
}

// comparison compares the engine's stacks of one target with Delve's own.
type comparison struct {
	*testing.T
	pt    *proc.Target
	tg    *delve.Target
	depth int
	tally
}

func compare(t *testing.T, pt *proc.Target, depth int) *comparison {
	t.Helper()
	tg, err := delve.NewTarget(pt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return &comparison{T: t, pt: pt, tg: tg, depth: depth}
}

// goroutines compares the stacks of the goroutines that keep chooses.
func (c *comparison) goroutines(keep func(*proc.G) bool) {
	c.Helper()
	list, _, err := proc.GoroutinesInfo(c.pt, 0, 0)
	if err != nil {
		c.Fatal(err)
	}
	for _, g := range list {
		if g.Unreadable != nil {
			c.Errorf("a goroutine: %v", g.Unreadable)
			continue
		}
		if keep(g) {
			own, err := proc.GoroutineStacktrace(c.pt, g, c.depth, 0)
			c.stack(fmt.Sprintf("goroutine %d, status %d", g.ID, g.Status), delve.Goroutine(g.ID), g, own, err)
		}
	}
}

// threads compares the stacks of all threads.
func (c *comparison) threads() {
	c.Helper()
	for _, th := range c.pt.ThreadList() {
		own, err := proc.ThreadStacktrace(c.pt, th, c.depth)
		g, _ := proc.GetG(th)
		c.stack(fmt.Sprintf("thread %d", th.ThreadID()), delve.Thread(th.ThreadID()), g, own, err)
	}
}

func (c *comparison) stack(what string, owner delve.Owner, g *proc.G, own []proc.Stackframe, err error) {
	c.Helper()
	if err != nil {
		c.Errorf("%s: Delve: %v", what, err)
		return
	}
	ours, err := delve.Stacktrace(c.tg, owner, c.depth)
	if err != nil {
		c.Errorf("%s: %v", what, err)
		return
	}
	if len(own) > c.depth+1 && own[len(own)-1].Err == nil {
		own = own[:c.depth+1] // Delve gives calls that are inlined in the last frame, too
	}
	delves := shown(own)
	c.stacks++
	c.frames += len(ours)
	if reflect.DeepEqual(ours, delves) {
		return
	}
	fault, why := c.fault(g, ours, own)
	if why != "" {
		c.Errorf("%s: %s:\n%s", what, why, both(ours, delves))
		return
	}
	if c.faults == nil {
		c.faults = make(map[string]int)
	}
	c.faults[fault]++
}

// report logs what was compared.
func (n *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d stacks of %d frames", n.stacks, n.frames)
	for fault, n := range n.faults {
		t.Logf("%d: %s", n, fault)
	}
}

// gcopystack is a goroutine's status while its stack moves (the runtime's _Gcopystack). Delve has
// no name for it.
const gcopystack = 8

// These are the cases in which Delve is known to be wrong. Each such stack must be checked
// nevertheless: by another of Delve's ways to walk, or by the stack being whole.
const (
	lostThread    = "Delve does not find the thread that a goroutine runs on"
	preempted     = "Delve takes what was preempted for a caller of runtime.asyncPreempt"
	afterNewstack = "behind runtime.newstack Delve takes the caller's frame for the one that is about to make its own"
	inSignal      = "Delve does not find what a signal has interrupted before runtime.sigtrampgo runs"
	inSystemstack = "Delve takes the beginning of runtime.systemstack for its end, where it is called on the system's stack"
	astray        = "Delve's stack leads through what it does not take for the program's code, or ends there or anywhere"
	inMcall       = "Delve takes the beginning of runtime.mcall, on the goroutine's stack, for the end of the system's stack"
	inGogo        = "Delve takes the goroutine's stack, to which runtime.gogo has just switched, for the frame of gogo"
	moving        = "the runtime moves the goroutine's stack: its g and its frames are of two stacks"
	threadStart   = "Delve goes on behind what a thread's stack begins with"
)

// fault returns which error of Delve's explains that the stacks differ, or why none does.
func (c *comparison) fault(g *proc.G, ours []api.Stackframe, own []proc.Stackframe) (fault, why string) {
	if g != nil && g.Thread == nil && g.Status == proc.Grunning && own[len(own)-1].Err != nil {
		return lostThread, "" // nothing else tells where the goroutine is
	}
	if len(ours) == 2 && ours[0].Function.Name() == "gogo" && ours[1].Err != "" && ours[0].PC == own[0].Current.PC {
		return inGogo, "" // where the goroutine goes on is in a register alone
	}
	last := &ours[len(ours)-1]
	if g != nil && g.Status == gcopystack && last.Err != "" {
		return moving, ""
	}
	if last.Err != "" || !last.Bottom && len(ours) <= c.depth {
		return "", "the stack is not whole"
	}
	delves := shown(own)
	i := 0 // the first frame that differs
	for i < min(len(ours), len(delves)) && reflect.DeepEqual(ours[i], delves[i]) {
		i++
	}
	switch {
	case beginsThread(last.Function.Name()) && i == len(ours)-1 && len(delves) > i:
		last := *last
		if last.Bottom = false; reflect.DeepEqual(last, delves[i]) {
			return threadStart, ""
		}
	case i == 0 && len(own) == 1 && own[0].Bottom && own[0].Call.Fn != nil && own[0].Call.Fn.Name == "runtime.mcall":
		return inMcall, ""
	case i > 0 && ours[i-1].Function.Name() == "runtime.newstack":
		return afterNewstack, c.parked(g, ours[i:])
	case i > 0 && ours[i-1].Function.Name() == "runtime.asyncPreempt":
		return preempted, c.interrupted(g, ours[i:], &own[i-1])
	case i <= 1 && slices.ContainsFunc(ours[:min(2, len(ours))], trampoline):
		return inSignal, ""
	case slices.ContainsFunc(own, func(f proc.Stackframe) bool { return f.Call.Fn == nil }),
		own[len(own)-1].Bottom && own[len(own)-1].Call.Fn.Name != "runtime.goexit" && !beginsThread(own[len(own)-1].Call.Fn.Name):
		return astray, c.switched(g, ours)
	case i == 1 && ours[0].Function.Name() == "runtime.systemstack":
		return inSystemstack, c.switched(g, ours)
	}
	return "", "the stacks differ"
}

func trampoline(f api.Stackframe) bool {
	return strings.HasPrefix(f.Function.Name(), "runtime.sigreturn") || f.Function.Name() == "<signal handler called>"
}

func beginsThread(function string) bool {
	return function == "runtime.mstart" || function == "runtime.clone" || function == "runtime.mcall" || function == "runtime.morestack"
}

// switched compares the frames behind the system stack's frames with the frames that Delve finds
// where the goroutine has left its own stack.
func (c *comparison) switched(g *proc.G, ours []api.Stackframe) (why string) {
	for k := range ours {
		if ours[k].Function.Name() == "runtime.systemstack_switch" {
			return c.parked(g, ours[k:])
		}
	}
	return ""
}

// parked compares ours with the frames that Delve finds where the goroutine has left its stack.
func (c *comparison) parked(g *proc.G, ours []api.Stackframe) (why string) {
	if g == nil {
		return "no goroutine"
	}
	own, err := proc.GoroutineStacktrace(c.pt, g, len(ours)-1, proc.StacktraceG)
	return c.same(ours, own, err)
}

// interrupted compares ours, frames of a goroutine, with the frames that Delve finds when it begins
// at the first of them, with the registers that the runtime gave the frame of asyncPreempt.
func (c *comparison) interrupted(g *proc.G, ours []api.Stackframe, asyncPreempt *proc.Stackframe) (why string) {
	if g == nil {
		return "no goroutine"
	}
	hi := asyncPreempt.Regs.CFA - asyncPreempt.FrameOffset()
	x := *g
	x.Thread, x.SystemStack = nil, false
	x.PC, x.SP, x.BP = ours[0].PC, uint64(asyncPreempt.Regs.CFA), uint64(ours[0].FramePointerOffset+hi)
	if c.tg.Arch().RA != c.tg.Arch().PC { // the link register was pushed
		var lr [8]byte
		if _, err := c.pt.Memory().ReadMemory(lr[:], x.SP); err != nil {
			return err.Error()
		}
		x.LR, x.SP = c.tg.Arch().Order.Uint64(lr[:]), x.SP+16
	}
	own, err := proc.GoroutineStacktrace(c.pt, &x, len(ours)-1, proc.StacktraceReadDefers) // not from the cache
	return c.same(ours, own, err)
}

func (c *comparison) same(ours []api.Stackframe, own []proc.Stackframe, err error) (why string) {
	if err != nil {
		return err.Error()
	}
	delves := shown(own)
	if len(delves) < len(ours) {
		return "Delve's goroutine is shorter"
	}
	delves = delves[:len(ours)]
	delves[0].Line = ours[0].Line // Delve does not take this frame for a caller's
	for i := range delves {       // Delve's is another frame's where a function has not yet made its own
		delves[i].FramePointerOffset = ours[i].FramePointerOffset
	}
	if !reflect.DeepEqual(ours, delves) {
		return "from where the goroutine has left its stack, it differs:\n" + both(ours, delves)
	}
	return ""
}
