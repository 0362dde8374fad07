//go:build linux && (amd64 || arm64)

package delve_test

import (
	"testing"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/internal/delvetest"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

func all(*proc.G) bool       { return true }
func running(g *proc.G) bool { return g.Thread != nil }

// Stacks of Go alone are Delve's own, of goroutines in all states and wherever the process
// is stopped.
func TestGoroutines(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"))
	grp := delvetest.Attach(t, p.PID)
	c := compare(t, grp.Selected, 60)
	c.goroutines(all)
	if c.stacks < 900 {
		t.Errorf("%d goroutines", c.stacks)
	}
	for range 25 {
		delvetest.Run(t, grp, 4*time.Millisecond)
		c.goroutines(running)
		c.threads()
	}
	c.goroutines(all)
	t.Logf("%d stacks of %d frames", c.stacks, c.frames)
	for fault, n := range c.faults {
		t.Logf("%d: %s", n, fault)
	}
}
