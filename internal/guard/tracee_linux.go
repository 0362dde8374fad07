package guard

import (
	"slices"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/arch/control"
)

// run state of a thread.
type runState uint8

const (
	running runState = iota
	stopped
)

// tracee is one thread.
type tracee struct {
	tid    int
	state  runState
	signal *siginfo  // is to be delivered when the thread runs
	owed   []siginfo // are delivered when the thread is let go

	group        bool // in a stop of the whole process (SIGSTOP, job control)
	through      bool // was resumed although the whole process is stopped
	delivery     bool // has stopped because of a signal: only then can ptrace deliver one
	asked        bool // to stop
	stepping     bool // was resumed for one instruction
	stepped      bool // has executed it
	over         bool // steps over a breakpoint while all others stand still
	late         bool // still steps over one: then it goes on
	steps        bool // is to be resumed for one instruction when it stops
	quiet        bool // what happens is not an event of the owner's
	atBreakpoint bool // has come to the breakpoint at hit
	hit          uint64
	pass         pass
	exiting      bool
	lends        bool       // its memory is lent to a child that vfork(2) has made
	chosen       bool       // the owner has said which signal is to be delivered
	step         *stepBegun // where a step has begun; nil if that does not matter
	loaded       bool       // has loaded its flags by the last step

	saved []savedState
	// watched says that the thread was in a system call at the first Save of which the kernel has
	// noted how to go on: forgotten says that the kernel has forgotten it since.
	watched, forgotten bool
}

// stepPatience is how long a step over a breakpoint may take before other threads run.
const stepPatience = 20 * time.Millisecond

// await takes what threads have to tell, as long as unless is true. It returns false if that takes
// too long.
func (g *guard) await(unless func() bool, timeout time.Duration) bool {
	end := time.Now().Add(timeout)
	for spins := 0; unless(); spins++ {
		if g.reap() {
			spins = 0
			continue
		}
		if time.Now().After(end) {
			return false
		}
		if spins > 50 { // a stop takes some microseconds, mostly
			time.Sleep(50 * time.Microsecond)
		}
	}
	return true
}

// runnable is the factor by which the wait for a runnable thread is longer: on a busy machine, it
// has to wait for a processor before it stops.
const runnable = 4

// awaitStops is await for threads that are to stop.
func (g *guard) awaitStops(unless func() bool) bool {
	for range runnable {
		if g.await(unless, g.timeout) {
			return true
		}
		if !g.anyRunnable() {
			break
		}
	}
	return false
}

// anyRunnable reports whether a thread that has not stopped runs, or waits for a processor.
func (g *guard) anyRunnable() bool {
	for _, t := range g.threads {
		if t.state == running && !t.exiting && taskState(g.pid, t.tid) == 'R' {
			return true
		}
	}
	return false
}

// stopAll stops the threads that run.
func (g *guard) stopAll() {
	some := func() bool {
		for _, t := range g.threads {
			if t.state == running && !t.exiting {
				return true
			}
		}
		return false
	}
	for _, t := range g.threads {
		if t.state == running && !t.exiting {
			t.asked = true
			ptrace(ptraceInterrupt, t.tid, 0, 0)
		}
	}
	g.resumed = false
	for g.awaitStops(some) && g.settle() {
	}
}

// reap takes what threads have to tell. It reports whether one had anything.
func (g *guard) reap() (any bool) {
	for {
		var ws syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &ws, waitAll|waitNoHang, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || tid == 0 {
			return any
		}
		any = true
		t := g.threads[tid]
		switch {
		case t == nil && tid == g.pid && ws.Stopped() && int(uint32(ws)>>16) == eventExec:
			g.execed(&tracee{})
		case t == nil && tid == g.pid && !ws.Stopped():
			g.finish(ws)
		case t == nil && ws.Stopped():
			g.early[tid] = ws
		case t == nil: // a child that was let go
		case ws.Stopped():
			g.stop(t, ws)
		default:
			g.end(t, ws)
		}
	}
}

// stop is called when a thread has stopped.
func (g *guard) stop(t *tracee, ws syscall.WaitStatus) {
	t.state, t.stepped = stopped, false
	sig, cause := ws.StopSignal(), int(uint32(ws)>>16)
	t.delivery = cause == 0 && sig != syscall.SIGTRAP|systemCallStop
	switch cause {
	case 0:
		if sig != syscall.SIGTRAP|systemCallStop {
			g.signal(t)
			return
		}
		t.systemCall(g.arch)
	case eventStop:
		t.group = sig != syscall.SIGTRAP
		if t.asked || t.quiet {
			t.asked = false
			return
		}
		if t.over { // it was asked to stop when it had stopped already
			t.group = false
			break
		}
		// A stop of the whole process, its end, or a stop that was asked for while the thread
		// stopped for another reason.
		if t.group && !t.through {
			if ptrace(ptraceListen, t.tid, 0, 0) == nil {
				t.state = running
			}
			return
		}
	case eventClone, eventFork: // which of them depends on the signal of its end alone
		if tid, err := eventMessage(t.tid); err == nil && g.all && g.hasMemory(tid) {
			g.born(tid)
		} else if err == nil {
			g.forked(tid)
		}
	case eventVfork:
		if child, err := eventMessage(t.tid); err == nil {
			t.lends = true
			g.lend(child)
		}
	case eventVforkDone:
		if t.lends { // else it made the child before it was held
			t.lends = false
			g.takeBack()
		}
	case eventExec:
		g.execed(t)
		return
	case eventExit:
		t.exiting, t.saved = true, nil
		g.exits(t)
		return
	}
	g.goOn(t, cause != eventStop)
}

// goOn resumes a thread that has stopped for the guard alone. If all threads shall stop it stays;
// but one that is inside a system call goes on to its end: the kernel would write the result over
// registers that are written before.
func (g *guard) goOn(t *tracee, inside bool) {
	if !t.over && (!g.resumed || t.asked || g.alone != nil && g.alone != t) {
		t.asked = inside
		if !inside {
			return
		}
		ptrace(ptraceInterrupt, t.tid, 0, 0)
	}
	if t.steps && t.beginStep(g) {
		t.steps, t.stepping = false, true
	}
	if ptrace(t.request(), t.tid, 0, 0) == nil {
		t.state = running
	}
}

// request returns how to resume the thread.
func (t *tracee) request() int {
	switch {
	case t.stepping:
		return ptraceSingleStep
	case t.watched:
		return ptraceSyscall
	}
	return ptraceCont
}

// systemCallStop is in the signal of a stop at a system call (PTRACE_O_TRACESYSGOOD).
const systemCallStop = 0x80

// signal is called when a thread has stopped because a signal is about to be delivered to it.
func (g *guard) signal(t *tracee) {
	t.asked = false
	var s siginfo
	if getSigInfo(t.tid, &s) != nil {
		return
	}
	processor := g.arch
	if pc, ok := t.pc(g.arch); ok && syscall.Signal(s.number()) == syscall.SIGTRAP && s.code() == processor.BreakpointCode {
		at := pc - processor.BehindBreakpoint
		if g.breakpoints[at] != nil && !t.over { // also if it was lifted since
			t.setPC(g.arch, at)
			t.atBreakpoint, t.hit = true, at
			g.events = append(g.events, Event{Kind: Breakpoint, TID: t.tid})
			return
		}
	}
	// The kernel says so when a step has ended at the first instruction of a signal handler. No
	// signal is delivered then.
	intoHandler := s.code() == int(syscall.SIGTRAP)
	t.delivery = t.delivery && !intoHandler
	if t.stepping && syscall.Signal(s.number()) == syscall.SIGTRAP && (slices.Contains(processor.StepCodes, s.code()) || intoHandler) && (s.code() > 0 || s.sender() == 0) {
		t.stepping, t.stepped = false, true
		t.mendStep(g)
		switch {
		case t.over || t.quiet:
		case t.late:
			t.late = false
			g.goOn(t, false)
		default:
			g.events = append(g.events, Event{Kind: Stepped, TID: t.tid})
		}
		return
	}
	t.owe(t.signal) // it was not delivered yet
	t.signal, t.chosen = &s, false
	if t.quiet {
		return
	}
	e := Event{Kind: Signalled, TID: t.tid, Signal: Signal{Number: s.number(), Code: s.code()}}
	switch {
	case isFault(&s):
		e.Signal.Address, e.Signal.HasAddress = s.addr(), s.code() != control.SignalKernel
	case s.code() <= 0:
		e.Signal.Sender = s.sender()
		e.Signal.Own = g.ownSignal(&s)
	}
	g.events = append(g.events, e)
}
