package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// sleepGrace bounds the wait for a thread in uninterruptible sleep, because the other threads stand
// still meanwhile.
const sleepGrace = 50 * time.Millisecond

// runnable is the factor by which the wait for a runnable thread is longer. Such a thread stops as
// soon as it gets a processor, which may take a while on a busy machine.
const runnable = 4

// tracer stops a process's threads. All its methods run on one locked OS thread, because ptrace
// takes that thread, not the process, for the tracer.
type tracer struct {
	proc *proc
	self int // the tracer's thread ID
	// prepare is called before the first thread is asked to stop. threads is how many there are.
	prepare func(threads int)

	timeout time.Duration // how long to wait for threads
	tracees []*tracee
	known   map[int]*tracee

	mu       sync.Mutex
	watched  []*tracee // the threads that are traced now, which watch collects while seize may block
	deadline time.Time // for all threads together, if they are stopped at one moment
}

// tracee is a thread that is or was to be stopped.
type tracee struct {
	tid     int
	name    string
	state   traceeState
	signal  int       // the signal that the stop has kept back, which the thread gets when it goes on
	since   time.Time // when it was asked to stop
	asleep  time.Time // when its present uninterruptible sleep was first seen
	sleeps  string    // how often it had gone to sleep by then
	held    time.Duration
	regs    arch.Registers
	sets    target.RegisterSets // with Options.Values
	blocked uint64              // the signals that it blocks
	copied  []block             // copies of its stack, the inner part first, and of stacks that handlers have interrupted
	err     error
}

type traceeState uint8

const (
	seized traceeState = iota // traced, but running still
	stopped
	failed   // cannot be stopped, see err; perhaps seized
	gone     // has ended
	detached // runs again
)

// onOwnThread runs f on a locked OS thread, and returns after f has returned. The thread ends with
// f, so that the kernel lets go all threads that f leaves traced.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The runtime never ends the first thread of a process.
			onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// stopAll stops every thread of the process, including threads that appear meanwhile. It marks
// threads that it cannot stop as failed. The error says that the process cannot be traced at all,
// or that ctx is done.
func (t *tracer) stopAll(ctx context.Context) error {
	t.self = unix.Gettid()
	t.known = make(map[int]*tracee)
	for {
		added, err := t.seizeNew()
		if err != nil || added == 0 {
			return err
		}
		if err := t.await(ctx); err != nil {
			return err
		}
	}
}

// seizeNew asks the threads that are not known yet to stop, and returns how many there were. It
// seizes all of them before it interrupts the first, because seizing takes longer and stops no
// thread.
func (t *tracer) seizeNew() (added int, err error) {
	tids, err := t.proc.tasks()
	if err != nil {
		if ended(err) {
			return 0, ErrExited
		}
		return 0, err
	}
	first := len(t.tracees) == 0
	late := !first && time.Now().After(t.deadline)
	var fresh []*tracee
	var stop func()
	for _, tid := range tids {
		x := t.known[tid]
		if x != nil && x.state == stopped && !isStopped(tid) {
			x.state = gone // killed, perhaps by execve(2), which gives its ID to another
		}
		if x != nil && (x.state != gone || late || t.hasEnded(tid)) {
			continue
		}
		if x == nil {
			x = &tracee{tid: tid}
			t.known[tid] = x
			t.tracees = append(t.tracees, x)
			t.mu.Lock()
			t.watched = append(t.watched, x)
			t.mu.Unlock()
		}
		if stop == nil {
			stop = t.watch()
		}
		x.name = t.proc.comm(tid)
		if late {
			x.state, x.err = failed, notStopped(tid, "it started when the time to stop all threads had passed")
		} else {
			x.state, x.err = t.seize(tid, x.name)
		}
		fresh = append(fresh, x)
	}
	if stop != nil {
		stop()
	}
	if first {
		t.prepare(len(fresh))
		t.deadline = time.Now().Add(t.timeout) // no thread has been asked to stop yet
	}
	var refused error
	for _, x := range fresh {
		switch x.state {
		case seized:
			x.since = time.Now()
			ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil) // if the thread ends, await finds out
			added++
		case failed:
			refused = x.err
		}
	}
	if added == 0 && first && refused != nil {
		return 0, refused
	}
	return added, nil
}

// seize makes this OS thread the tracer of a thread. It may block while the process is in
// execve(2).
func (t *tracer) seize(tid int, name string) (traceeState, error) {
	if t.proc.isWorker(tid, name) {
		return failed, ofKernel(tid)
	}
	for try := 0; ; try++ {
		err := unix.PtraceSeize(tid)
		if err == nil {
			return seized, nil
		}
		if errors.Is(err, unix.ESRCH) || t.hasEnded(tid) {
			return gone, nil
		}
		s, serr := t.proc.status(taskFile(tid, ""))
		switch {
		case serr == nil && s.tracer == t.self:
			// It was another of the threads that we trace, and has taken this ID in execve(2).
			return seized, nil
		case serr == nil && s.tracer != 0:
			return failed, tracedBy(t.proc.pid, s.tracer)
		case errors.Is(err, unix.EPERM) && try < 3:
			// In execve(2), a thread that has just ended may have had this ID.
			continue
		case errors.Is(err, unix.EPERM):
			return failed, denied(t.proc)
		case errors.Is(err, unix.ENOSYS):
			return failed, refuse(ErrPermission, t.proc.pid, "this system has no ptrace, or a seccomp filter hides it")
		}
		return failed, fmt.Errorf("seize thread %d: %w", tid, err)
	}
}

// hasEnded reports whether a thread is a zombie, or gone.
func (t *tracer) hasEnded(tid int) bool {
	s, err := t.proc.status(taskFile(tid, ""))
	return err != nil && ended(err) || err == nil && strings.Contains("XZ", s.state[:1])
}

// watch collects threads that end while others are seized, until stop is called. execve(2) waits
// until its process's other threads are collected, and seizing one of them waits for execve.
// Without the watch, both could wait forever.
func (t *tracer) watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			t.reapAll()
		}
	}()
	return func() { close(done); <-ended }
}

// watchOver tells the watch which threads are traced now.
func (t *tracer) watchOver(traced ...[]*tracee) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watched = t.watched[:0]
	for _, list := range traced {
		t.watched = append(t.watched, list...)
	}
}

// reapAll collects the traced threads that have ended.
func (t *tracer) reapAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.watched {
		if x.tid != t.proc.pid {
			reap(x.tid)
		}
	}
}

// quickRounds is how often await looks at the threads before it sleeps.
const quickRounds = 32

// firstWait is how long await sleeps then; it doubles each time.
var firstWait = 50 * time.Microsecond

// sleepLonger sleeps for wait, and doubles it for the next time, to two milliseconds at most.
func sleepLonger(wait *time.Duration) {
	ts := unix.NsecToTimespec(int64(*wait))
	unix.Nanosleep(&ts, nil)
	*wait = min(2**wait, 2*time.Millisecond)
}

// await waits until every seized thread has stopped, or ended, or proved unable to.
func (t *tracer) await(ctx context.Context) error {
	wait := firstWait
	for round := 0; ; round++ {
		pending := false
		for _, x := range t.tracees {
			if x.state != seized {
				continue
			}
			if is, signal := stopSignal(x.tid); is {
				x.state, x.signal = stopped, signal
				continue
			}
			if round >= quickRounds {
				t.judge(x, t.deadline)
			}
			pending = pending || x.state == seized
		}
		if !pending {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("attach %d: %w", t.proc.pid, context.Cause(ctx))
		}
		if round < quickRounds {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // most stop within microseconds
			continue
		}
		t.reapAll()
		sleepLonger(&wait)
	}
}

// judge finds out why a thread has not stopped yet.
func (t *tracer) judge(x *tracee, deadline time.Time) {
	s, err := t.proc.status(taskFile(x.tid, ""))
	now, again := time.Now(), false
	held := now.Sub(x.since)
	if err != nil || s.state[:1] != "D" {
		x.asleep = time.Time{}
	} else if x.asleep.IsZero() || x.sleeps != s.sleeps { // most threads sleep for a moment, time and again
		x.asleep, x.sleeps = now, s.sleeps
	}
	switch {
	case t.hasEnded(x.tid):
		x.state = gone
	case err == nil && s.tracer != t.self:
		x.state = gone // a thread that we do not trace has taken its ID in execve(2)
	case !x.asleep.IsZero() && now.Sub(x.asleep) > sleepGrace:
		x.state = failed
		x.err = notStopped(x.tid, "it is in uninterruptible sleep (state D)"+t.where(x.tid))
	case err == nil && s.state[:1] == "t" && held < runnable*t.timeout:
		// It has stopped since it was last looked at.
	case err == nil && s.state[:1] == "R" && held < runnable*t.timeout:
		again = true
	case now.After(deadline):
		x.state = failed
		x.err = notStopped(x.tid, fmt.Sprintf("it has not stopped within %v, its state is %s%s", held.Round(time.Millisecond), s.state, t.where(x.tid)))
	default:
		again = true
	}
	if again {
		// Another thread that we trace may have taken this ID in execve(2), after it was seized and
		// before it was asked to stop.
		ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil)
	}
}

// where returns the name of the kernel function in which a thread sleeps.
func (t *tracer) where(tid int) string {
	text, err := t.proc.readFile(taskFile(tid, "wchan"))
	if err != nil || len(text) == 0 || string(text) == "0" {
		return ""
	}
	return fmt.Sprintf(", in the kernel's %s", text)
}

func notStopped(tid int, why string) error {
	return &refusal{ErrNotStopped, fmt.Sprintf("thread %d cannot be stopped: %s", tid, why)}
}

// detachAll lets all stopped threads go on. It reports whether those were all: the end of the
// tracer's thread lets go any others.
func (t *tracer) detachAll() (all bool) {
	all = true
	for _, x := range t.tracees {
		if x.state == gone && !x.since.IsZero() {
			all = false
		}
		if x.state == seized || x.state == failed && !x.since.IsZero() {
			// It may have stopped since it was last looked at.
			is, signal := stopSignal(x.tid)
			if !is {
				all = false
				continue
			}
			x.state, x.signal = stopped, signal
		}
		if x.state == stopped && !t.letGo(x) {
			all = false
		}
	}
	return all
}

// letGo lets a stopped thread go on. It returns false if the thread was killed meanwhile.
func (t *tracer) letGo(x *tracee) bool {
	if detach(x.tid, x.signal) != nil {
		return false
	}
	x.held = time.Since(x.since)
	x.state = detached
	return true
}
