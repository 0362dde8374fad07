package stacks_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDeadlocks386: locks of a process of 32-bit x86 have the owners that gdb reads.
func TestDeadlocks386(t *testing.T) {
	program := gdbtest.Build386(t, "deadlock.c", "-g", "-O2")
	for _, tt := range []struct{ kind, expression, is string }{
		{"normal", mutexOwner, "mutex"},
		{"robust", mutexOwner, "mutex"},
		{"write", rwlockOwner, "rwlock"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			p := gdbtest.Start(t, program, tt.kind)
			doc := waitsOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID), "--consistent")
			if n := doc.check(t, gdbOwners(t, p.PID, tt.expression), tt.is); n != 2 || len(doc.Deadlocks) != 1 {
				t.Errorf("%d threads wait for locks with owners, deadlocks %+v: %+v", n, doc.Deadlocks, doc)
			}
		})
	}
}

// waitingPython is a program whose threads wait for locks of threading: three without a timeout,
// one with it.
const waitingPython = `
import ctypes, threading, time
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
lock, event, semaphore = threading.Lock(), threading.Event(), threading.Semaphore(0)
lock.acquire()
for f in lock.acquire, event.wait, semaphore.acquire, lambda: event.wait(1000):
    threading.Thread(target=f, daemon=True).start()
print("ready", flush=True)
import sys
sys.stdin.read()
`

// TestWaitsOfPython: Python's locks are semaphores, which keep no owner.
func TestWaitsOfPython(t *testing.T) {
	script := filepath.Join(t.TempDir(), "waiting.py")
	if err := os.WriteFile(script, []byte(waitingPython), 0o600); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, gdbtest.File(t, "/usr/bin/python3"), script)
	doc := waitsOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID), "--consistent")
	waiting, timed := 0, 0
	for _, th := range doc.Threads {
		if w := th.Waits; w != nil && w.Kind == "semaphore" && w.Ownerless && w.Owner == 0 {
			waiting++
			if w.Timed {
				timed++
			}
		}
	}
	if waiting != 4 || timed != 1 || len(doc.Deadlocks) != 0 {
		t.Errorf("%d threads wait for semaphores, %d of them with a timeout: %+v", waiting, timed, doc)
	}
}
