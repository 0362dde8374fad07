//go:build amd64

package sniffer_test

import (
	"context"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// bothWays walks all stacks of a process by both walkers.
func bothWays(t *testing.T, pid int) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	check := walktest.New(tg.Modules(), sniffer.Table(tg.Arch()))
	for _, th := range threads {
		if err := check.Check(tg, th); err != nil {
			t.Errorf("thread %d: %v", th.ID(), err)
		}
	}
}

// Who has called the function that the program starts at: nobody.
func TestStartWithoutTables(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "start.c", "-nostdlib", "-static"))
	if names, _, whole := attachAndWalk(t, p.PID); !slices.Equal(names, []string{"waits", "_start"}) || !whole {
		t.Errorf("%q, whole: %t", names, whole)
	}
	bothWays(t, p.PID)
}
