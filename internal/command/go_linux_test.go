package command

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// TestGoGDB compares the threads of a Go program with gdb, by its .debug_frame.
// The process is stopped by a signal, since one of its threads never rests.
func TestGoGDB(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget"))
	p.Stop(t)
	compare(t, take(t, p.PID, &walkFlags{}), gdbtest.Backtrace(t, p.PID))
}

// TestGoWithoutDWARF finds the one stack that is known from the source, by code
// and frame pointers.
func TestGoWithoutDWARF(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget", "-ldflags=-w"))
	p.Stop(t)
	doc := take(t, p.PID, &walkFlags{})
	want := []string{"main.blockInRead", "main.lockedInner", "main.lockedOuter", "main.locked", "main.main.gowrap1", "runtime.goexit"}
	for _, th := range doc.Threads {
		var got []string
		for _, f := range th.Frames {
			got = append(got, function(f.Function))
		}
		if i := slices.Index(got, want[0]); i >= 0 {
			if got[len(got)-1] == want[5]+".abi0" {
				got[len(got)-1] = want[5]
			}
			if !slices.Equal(got[i:], want) || !th.whole {
				t.Errorf("stack %q, %s %s; want … %q", got, th.Stop, th.Error, want)
			}
			return
		}
	}
	t.Error("no thread is in main.blockInRead")
}
