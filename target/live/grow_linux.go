//go:build amd64 || arm64 || s390x

package live

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"
)

// growTimeout is how long a thread is waited for whose stack is to be copied further: on
// a busy machine it may take a while until the thread gets a processor to stop on.
const growTimeout = DefaultTimeout

// lift implements memory.lift. A thread that is blocked need not be stopped: the kernel
// tells where it is blocked before the copy and after it. Any other is stopped once more.
func (f *files) lift(o *owner, before *block, part span) (data []byte, same bool) {
	if f.closed.Load() || f.exited() {
		return nil, false
	}
	data = make([]byte, part.hi-part.lo)
	if text, sp, _, ok := f.proc.blocked(o.tid); ok {
		n, _ := f.fetch(part.lo, data)
		same = f.unchanged(o, before, sp)
		if again, _, _, _ := f.proc.blocked(o.tid); again == text {
			return data[:n], same
		}
	}
	same = false
	t, all := &tracer{proc: f.proc}, true
	onOwnThread(func() {
		t.self = unix.Gettid()
		x := &tracee{tid: o.tid}
		t.tracees = []*tracee{x}
		defer func() { all = t.detachAll() }()
		if x.state, x.err = t.seize(x.tid); x.state != seized {
			return
		}
		x.since = time.Now()
		ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil)
		t.awaitOne(x)
		if x.state != stopped {
			return
		}
		x.readRegisters(make([]byte, maxRegisterSet))
		if sp, ok := x.regs.Get(hostArch.SP); ok && x.state == stopped && f.unchanged(o, before, sp) {
			n, _ := f.fetch(part.lo, data)
			data, same = data[:n], true
		}
	})
	if !all {
		awaitThreadEnd(t.self)
	}
	return data, same
}

// awaitOne waits until a thread has stopped, or has not in time.
func (t *tracer) awaitOne(x *tracee) {
	wait := firstWait
	for round := 0; x.state == seized; round++ {
		if is, signal := stopSignal(x.tid); is {
			x.state, x.signal = stopped, signal
			return
		}
		if round < quickRounds {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		t.judge(x, x.since.Add(growTimeout))
		unix.Nanosleep(&wait, nil)
		wait.Nsec = min(2*wait.Nsec, int64(2*time.Millisecond))
	}
}

// nearby is how much of a copy, where it is to go on, must still be as it was, bytes.
const nearby = 512

// unchanged reports whether a stack can be copied further: the thread, whose SP is sp
// now, is still within what was copied, and the outermost frames of that are as they
// were. Whatever the thread does further in does not matter. Of a stack that it has left
// behind, it must not have come back to where it left.
func (f *files) unchanged(o *owner, before *block, sp uint64) bool {
	for a := o.anchor; a != nil; a = a.inner {
		if a.inner == nil && sp > a.sp || !f.still(a.lo, a.was) {
			return false
		}
	}
	if o.anchor != nil {
		return true // where it ends, and memory of others begins, nobody knows
	}
	was := before.data[max(0, len(before.data)-nearby):]
	lo := before.hi() - uint64(len(was))
	return sp <= lo && f.still(lo, was)
}

// still reports whether the process has the same bytes, nearby of them at most, at lo.
func (f *files) still(lo uint64, was []byte) bool {
	var now [nearby]byte
	n, _ := f.fetch(lo, now[:len(was)])
	return bytes.Equal(was, now[:n])
}
