package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A trampoline in memory that belongs to no file jumps on. Nothing is known about it. Its return
// address is at the stack pointer.
func TestTrampoline(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "tramp.c", "-O2", "-fomit-frame-pointer"))
	names, whole := settleAndWalk(t, p.PID)
	if i := slices.Index(names, "tramp_by"); i < 1 || i+1 == len(names) || names[i-1] != "?" || names[i+1] != "main" || !whole {
		t.Errorf("%q, whole: %t", names, whole)
	}
	bothWays(t, p.PID)
}
