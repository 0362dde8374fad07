//go:build amd64 || arm64 || s390x

package live

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// A thread that could run stops as soon as it gets a processor: on a busy machine it is
// waited for longer than one that sleeps.
func TestRunnableIsWaitedFor(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; while :; do :; done")
	proc, err := openProc(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.dir.Close()
	onOwnThread(func() {
		tr := &tracer{proc: proc, self: unix.Gettid()}
		x := &tracee{tid: p.PID}
		tr.tracees = []*tracee{x}
		if x.state, x.err = tr.seize(x.tid); x.state != seized {
			t.Error(x.err)
			return
		}
		defer tr.detachAll()
		x.since = time.Now().Add(-10 * time.Second)
		if tr.judge(x, x.since.Add(2*time.Second)); x.state != failed {
			t.Error("it is waited for without end")
		}
		x.state = seized
		if tr.judge(x, x.since.Add(8*time.Second)); x.state != seized {
			t.Error(x.err)
		}
		tr.awaitOne(x)
	})
}
