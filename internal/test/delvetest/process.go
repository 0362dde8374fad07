//go:build linux && (amd64 || arm64)

package delvetest

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Attach has Delve attach to a process until the test ends, or detaches.
func Attach(t testing.TB, pid int) *proc.TargetGroup {
	t.Helper()
	Quiet(t)
	grp := attach(t, pid)
	t.Cleanup(func() {
		if _, err := grp.Valid(); err != nil {
			return // the test has detached
		}
		if err := grp.Detach(false); err != nil {
			t.Errorf("Delve detaches from %d: %v", pid, err)
		}
	})
	return grp
}

// attach attaches until Delve has all threads. Delve lists them once, and a thread that begins
// before its creator is attached goes on unseen (Delve 1.27).
func attach(t testing.TB, pid int) (grp *proc.TargetGroup) {
	t.Helper()
	gdbtest.Await(t, fmt.Sprintf("Delve has all threads of %d", pid), func() bool {
		var err error
		if grp, err = native.Attach(pid, nil, nil); err != nil {
			t.Fatal(err)
		}
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			t.Fatal(err)
		}
		if len(tasks) == len(grp.Selected.ThreadList()) {
			return true
		}
		if err := grp.Detach(false); err != nil {
			t.Fatal(err)
		}
		return false
	})
	return grp
}

// Quiet keeps Delve's log off the tests' output.
func Quiet(t testing.TB) {
	t.Helper()
	if err := logflags.Setup(false, "", ""); err != nil {
		t.Fatal(err)
	}
}

// Run lets the process run on until is reports true.
func Run(t testing.TB, grp *proc.TargetGroup, what string, is func() bool) {
	t.Helper()
	stopped := make(chan error, 1)
	go func() {
		defer func() { stopped <- grp.RequestManualStop() }() // also if Await gives up
		gdbtest.Await(t, what, is)
	}()
	if err := grp.Continue(); err != nil {
		t.Fatalf("the process does not run on: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}
