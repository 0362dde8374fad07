package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// inFlight is how many threads are asked to stop at a time. While one is on its way to the
	// stop, another is read.
	inFlight = 2
	// maxListings is how often the threads are listed. New ones may start while they are read one
	// after the other.
	maxListings = 4
	// lateInterval is how often the threads that are slow to stop are looked at.
	lateInterval = 50 * time.Microsecond
)

// errReplaced says that the process has become another program by execve(2).
var errReplaced = errors.New("the process has become another program")

// inTurn stops, reads and resumes one thread after the other, so that it holds none for longer than
// it takes to read it. It marks threads that it cannot stop as failed. The error says that the
// process cannot be traced at all, that it runs another program now, or that ctx is done.
func (s *attachment) inTurn(ctx context.Context) error {
	t := &s.tracer
	t.self = unix.Gettid()
	t.known = make(map[int]*tracee)
	tids, err := t.proc.tasks()
	if err == nil {
		err = s.files.openAny(tids)
	}
	s.moment = time.Now()
	if !s.tracesNone() {
		s.files.prepare(maxSwitches * firstCopy)
		stop := t.watch()
		defer stop()
	}
	for range maxListings {
		if err != nil {
			break
		}
		fresh := t.admit(tids)
		if len(fresh) == 0 {
			break
		}
		if s.unread {
			for _, x := range fresh {
				known := false
				if x.name, known = t.proc.watch.name(x.tid); !known {
					x.name = t.proc.comm(x.tid)
				}
			}
			if !s.tracesNone() { // a thread has the mask of code addresses
				err = s.readInTurn(ctx, fresh[:1])
			}
			break
		}
		if err = s.readInTurn(ctx, fresh); err == nil {
			tids, err = t.proc.tasks()
		}
	}
	switch {
	case err != nil && ended(err):
		return ErrExited
	case err != nil:
		return err
	case s.files.replaced():
		return errReplaced
	}
	return s.readMaps(tids...)
}

// tracesNone reports whether the attachment stops no thread.
func (s *attachment) tracesNone() bool { return s.unread && !hostArch.PAuth }

// admit makes tracees of the threads that are not known yet, and returns them.
func (t *tracer) admit(tids []int) (fresh []*tracee) {
	for _, tid := range tids {
		if t.known[tid] == nil {
			x := &tracee{tid: tid}
			t.known[tid] = x
			t.tracees = append(t.tracees, x)
			fresh = append(fresh, x)
		}
	}
	return fresh
}

// readInTurn reads threads in a pipeline. While it waits for some threads, it seizes the next one,
// which stops no thread. It asks that one to stop when there is room, reads it when it has stopped,
// and lets it go at once. It waits for a thread that is slow to stop, perhaps because it never
// will, beside the others.
func (s *attachment) readInTurn(ctx context.Context, fresh []*tracee) error {
	t := &s.tracer
	var ready, held, late []*tracee
	var refused error
	var lookAt, judgeAt time.Time // when to look next at the late ones
	settle := func(list []*tracee, judge bool) []*tracee {
		return slices.DeleteFunc(list, func(x *tracee) bool {
			s.poll(x, judge)
			if x.state != seized && x.state != detached {
				s.stuck = append(s.stuck, x) // it stays traced until the attach is over
			}
			return x.state != seized
		})
	}
	idle, wait := 0, firstWait
	for len(fresh)+len(ready)+len(held)+len(late) > 0 {
		if len(held) < inFlight && len(ready) > 0 {
			x := ready[0]
			ready = ready[1:]
			x.since = time.Now()
			ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil) // if the thread ends, judge finds out
			held = append(held, x)
			idle, wait = 0, firstWait
		}
		was := len(held) + len(late)
		held = settle(held, false)
		if now := time.Now(); len(late) > 0 && now.After(lookAt) {
			judge := now.After(judgeAt)
			late = settle(late, judge)
			// Looking at many of them takes a while, and most of the time belongs to the others.
			took := time.Since(now)
			lookAt = now.Add(max(5*took, lateInterval))
			if judge {
				judgeAt = now.Add(max(10*took, 4*lateInterval))
			}
		}
		switch {
		case len(held)+len(late) < was:
			t.watchOver(ready, held, late, s.stuck)
			continue
		case len(ready) < inFlight && len(fresh) > 0:
			x := fresh[0]
			fresh = fresh[1:]
			x.name = t.proc.comm(x.tid)
			if x.state, x.err = t.seize(x.tid, x.name); x.state == seized {
				ready = append(ready, x)
				t.watchOver(ready, held, late, s.stuck)
			} else if x.state == failed {
				refused = x.err
			}
			continue
		case len(held)+len(late) == 0:
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("attach %d: %w", t.proc.pid, context.Cause(ctx))
		}
		if idle++; idle < quickRounds {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // most stop within microseconds
			continue
		}
		if late, held = append(late, held...), nil; len(ready) > 0 {
			continue
		}
		t.reapAll()
		sleepLonger(&wait)
	}
	if refused != nil && !slices.ContainsFunc(t.tracees, func(x *tracee) bool { return !x.since.IsZero() }) {
		return refused
	}
	return nil
}

// poll reads a thread if it has stopped, and lets it go. Else, if judge is set, poll finds out why
// it has not stopped.
func (s *attachment) poll(x *tracee, judge bool) {
	is, signal := stopSignal(x.tid)
	switch {
	case is:
		x.state, x.signal = stopped, signal
		s.read(x)
		if x.state == stopped && s.tracer.letGo(x) {
			s.keep(x)
		}
	case judge:
		s.tracer.judge(x, x.since.Add(s.tracer.timeout))
		if x.state == failed {
			s.blockedRegisters(x)
			s.copyStack(x)
			s.keep(x)
		}
	}
}

// read reads the thread's own state, while it is stopped.
func (s *attachment) read(x *tracee) {
	hookStopped()
	x.readRegisters(s.files, s.files.registerRoom)
	if !s.masked && x.state == stopped { // all threads have one mask
		s.masked, s.pacMask = true, readPACMask(x.tid, s.files.registerRoom)
	}
	if x.state == stopped {
		s.copyStack(x)
	}
}

// copyStack copies the inner part of a thread's stack, and of the stacks that handlers on alternate
// stacks have interrupted. keep empties the room that the copies lie in.
func (s *attachment) copyStack(x *tracee) {
	s.lifted = s.lifted[:0]
	if sp, ok := x.regs.Get(s.tracer.proc.arch.SP); ok {
		s.lifted = s.files.copyStacks(x.tid, sp, nil, firstCopy, s.files.copyRoom, s.lifted)
	}
}

// keep adds the copies that copyStack has made to the target's.
func (s *attachment) keep(x *tracee) {
	if len(s.lifted) == 0 {
		return
	}
	for _, b := range s.lifted {
		if n := uint64(len(b.data)); n <= s.left {
			s.left -= n
			x.copied = append(x.copied, block{lo: b.lo, data: slices.Clone(b.data)})
		}
	}
	s.lifted = s.lifted[:0]
}
