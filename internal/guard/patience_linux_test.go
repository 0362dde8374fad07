package guard

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A runnable thread stops as soon as it gets a processor. So on a busy machine, it is waited for
// longer than one that sleeps.
func TestRunnableIsWaitedFor(t *testing.T) {
	runs := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; while :; do :; done")
	sleeps := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; exec sleep 600")
	gdbtest.Await(t, "it sleeps", func() bool { return taskState(sleeps.PID, sleeps.PID) == 'S' })
	// The time is over at once: a thread is looked at once for each time that it is waited for.
	looks := func(pid, most int) (n int, stopped bool) {
		g := &guard{pid: pid, timeout: -1, threads: map[int]*tracee{pid: {tid: pid, state: running}}}
		stopped = g.awaitStops(func() bool { n++; return n <= most })
		return n, stopped
	}
	if n, stopped := looks(runs.PID, 2); !stopped {
		t.Errorf("a runnable thread is looked at %d times, and not waited for", n)
	}
	if n, stopped := looks(runs.PID, 1000); stopped || n > 2*runnable {
		t.Errorf("a runnable thread that does not stop is looked at %d times", n)
	}
	if n, stopped := looks(sleeps.PID, 2); stopped {
		t.Errorf("a thread that sleeps is looked at %d times, as if it could stop", n)
	}
}
