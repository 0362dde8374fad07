package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// ends are functions of Go's run time that nobody has called. gdb goes on, to whatever
// the stack has there.
var ends = []string{"runtime.goexit", "runtime.mstart", "runtime.mcall"}

// TestGoGDB compares the threads of a Go program with gdb, by its .debug_frame: what gdb
// has as far as the first function that changes stacks, or ends one.
// The process is stopped by a signal, since one of its threads never rests.
func TestGoGDB(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget"))
	p.Stop(t)
	got := take(t, p.PID, &walkFlags{})
	for _, w := range gdbtest.Backtrace(t, p.PID) {
		i := slices.IndexFunc(got.Threads, func(th thread) bool { return th.TID == w.TID })
		if i < 0 {
			t.Errorf("thread %d is missing", w.TID)
			continue
		}
		th := &got.Threads[i]
		if end := goFunction(th.Frames[len(th.Frames)-1].Function); !slices.Contains(ends, end) || !th.whole {
			t.Errorf("thread %d ends in %s: %s %s\n%s", w.TID, end, th.Stop, th.Error, sideBySide(th, w))
			continue
		}
		w.Frames = w.Frames[:min(len(w.Frames), len(th.Frames))]
		if why := compareThread(th, w); why != "" {
			t.Errorf("thread %d %q: %s\n%s", w.TID, th.Name, why, sideBySide(th, w))
		}
	}
}

// goFunction is a function's name as the source has it.
func goFunction(name string) string { return strings.TrimSuffix(function(name), ".abi0") }

// goStacks returns the threads' stacks that have a function of the program's own, as
// names of functions, and those that are not whole.
func goStacks(doc *document) (stacks []string, broken []string) {
	for i := range doc.Threads {
		th := &doc.Threads[i]
		var names []string
		own := false
		for _, f := range th.Frames {
			name := goFunction(f.Function)
			if f.Type == frame.SigTramp.String() {
				name = "<signal>"
			}
			names = append(names, name)
			own = own || strings.HasPrefix(name, "main.")
		}
		stack := strings.Join(names, " ")
		if own {
			stacks = append(stacks, stack)
		}
		if !th.whole {
			broken = append(broken, fmt.Sprintf("%s: %s %s", stack, th.Stop, th.Error))
		}
	}
	slices.Sort(stacks)
	return stacks, broken
}
