//go:build linux && (amd64 || arm64)

package server

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestUnseen: until Delve attaches, it sees none of the threads.
func TestUnseen(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "3")
	if n, all := unseen(p.PID), len(p.States(t)); n != all || n < 4 {
		t.Errorf("%d threads of %d are unseen", n, all)
	}
	delvetest.Attach(t, p.PID)
	if n := unseen(p.PID) + unseen(0); n != 0 {
		t.Errorf("%d threads are unseen when Delve has attached", n)
	}
}
