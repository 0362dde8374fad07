//go:build linux && (amd64 || arm64)

package delvetest

import (
	"testing"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"
)

// Attach has Delve attach to a process until the test ends.
func Attach(t testing.TB, pid int) *proc.TargetGroup {
	t.Helper()
	Quiet(t)
	grp, err := native.Attach(pid, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
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
