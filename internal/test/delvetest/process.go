//go:build linux && (amd64 || arm64)

package delvetest

import (
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
	grp, err := native.Attach(pid, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
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
