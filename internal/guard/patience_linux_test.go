package guard

import (
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A runnable thread stops as soon as it gets a processor. So on a busy machine, it is waited for
// longer than one that sleeps.
func TestRunnableIsWaitedFor(t *testing.T) {
	runs := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; while :; do :; done")
	sleeps := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; exec sleep 600")
	gdbtest.Await(t, "it sleeps", func() bool { return taskState(sleeps.PID, sleeps.PID) == 'S' })
	of := func(pid int) *guard {
		return &guard{pid: pid, timeout: 100 * time.Millisecond, threads: map[int]*tracee{pid: {tid: pid, state: running}}}
	}
	begun := time.Now()
	if g := of(runs.PID); !g.awaitStops(func() bool { return time.Since(begun) < 2*g.timeout }) {
		t.Error("a runnable thread is not waited for")
	}
	if of(runs.PID).awaitStops(func() bool { return true }) {
		t.Error("a runnable thread is waited for without end")
	}
	if of(sleeps.PID).awaitStops(func() bool { return true }) {
		t.Error("a thread that sleeps has stopped")
	}
}
