package live

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// patient calls f on a tracer's thread, with a seized thread of a process. judge judges the thread
// as if it had been asked ten seconds ago, when the time for all threads is over.
func patient(t *testing.T, p *gdbtest.Process, f func(tr *tracer, x *tracee, judge func(timeout time.Duration))) {
	t.Helper()
	proc, err := openProc(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.dir.Close()
	onOwnThread(func() {
		tr := &tracer{proc: proc, self: unix.Gettid()}
		x := &tracee{tid: p.PID}
		tr.tracees = []*tracee{x}
		if x.state, x.err = tr.seize(x.tid, ""); x.state != seized {
			t.Error(x.err)
			return
		}
		defer tr.detachAll()
		x.since = time.Now().Add(-10 * time.Second)
		f(tr, x, func(timeout time.Duration) {
			tr.timeout, x.state, x.err = timeout, seized, nil
			tr.judge(x, time.Now().Add(-time.Second))
		})
	})
}

// A runnable thread stops as soon as it gets a processor. So on a busy machine, it is waited for
// longer than one that sleeps.
func TestRunnableIsWaitedFor(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; while :; do :; done")
	patient(t, p, func(tr *tracer, x *tracee, judge func(time.Duration)) {
		if judge(2 * time.Second); x.state != failed {
			t.Error("it is waited for without end")
		}
		if judge(time.Minute); x.state != seized {
			t.Error(x.err)
		}
		tr.awaitOne(x)
	})
}

// A thread that stops between two looks at it is not taken for one that cannot be stopped.
func TestStoppedMeanwhile(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; while :; do :; done")
	patient(t, p, func(tr *tracer, x *tracee, judge func(time.Duration)) {
		ptrace(unix.PTRACE_INTERRUPT, x.tid, 0, nil)
		gdbtest.Await(t, "the thread has stopped", func() bool {
			s, err := tr.proc.status(taskFile(x.tid, ""))
			return err == nil && s.state[:1] == "t"
		})
		if judge(time.Minute); x.state != seized {
			t.Error(x.err)
		}
		if tr.awaitOne(x); x.state != stopped {
			t.Errorf("state %d, %v", x.state, x.err)
		}
	})
}

// A thread that is seen in uninterruptible sleep may wake up at once, and fall asleep once more.
func TestAsleepForAMoment(t *testing.T) {
	p := start(t, "vforks.c")
	gdbtest.Await(t, "the main thread waits for vfork", func() bool {
		return strings.HasPrefix(field(t, p.PID, p.PID, "State"), "D")
	})
	patient(t, p, func(tr *tracer, x *tracee, _ func(time.Duration)) {
		for _, c := range []struct {
			what  string
			since time.Duration // how long ago it was seen asleep
			more  string        // how often it has gone to sleep since
			want  traceeState
		}{
			{"seen for the first time", 0, "", seized},
			{"seen a moment ago", 0, "", seized},
			{"seen in another sleep", time.Second, "1", seized},
			{"seen a second ago", time.Second, "", failed},
		} {
			if !x.asleep.IsZero() {
				x.asleep, x.sleeps = time.Now().Add(-c.since), x.sleeps+c.more
			}
			tr.timeout, x.state, x.err = time.Minute, seized, nil
			if tr.judge(x, time.Now().Add(time.Minute)); x.state != c.want {
				t.Errorf("%s: state %d, %v", c.what, x.state, x.err)
			}
		}
	})
}
