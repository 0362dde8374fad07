package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// attachAndWalk walks the stack of a process's main thread once. It returns the functions of
// its frames, outermost last, and how many of the inner ones had not moved on.
func attachAndWalk(t *testing.T, pid int) (names []string, still int, whole bool) {
	t.Helper()
	return walkMain(t, pid, false)
}

// settleAndWalk is like attachAndWalk, but reads the thread once more if it has moved on. Even a
// blocked thread may be on its way back into its system call.
func settleAndWalk(t *testing.T, pid int) (names []string, whole bool) {
	t.Helper()
	names, _, whole = walkMain(t, pid, true)
	return names, whole
}

func walkMain(t *testing.T, pid int, settle bool) (names []string, still int, whole bool) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	if settle {
		if err := stack.RetakeIfMovedOn(); err != nil {
			t.Fatal(err)
		}
	}
	whole = true
	for f, err := range stack.All() {
		if err != nil {
			whole = false
			break
		}
		if !f.MovedOn() {
			if len(names) != still {
				t.Errorf("%v has not moved on, but an inner frame has", f)
			}
			still++
		}
		names = append(names, functionOf(f))
	}
	if thread := threads[0].(*live.Thread); thread.MovedOn() != stack.MovedOn() || whole && stack.MovedOn() != (still < len(names)) {
		t.Errorf("the thread has moved on: %v; the stack: %v; %d of %d frames have not", thread.MovedOn(), stack.MovedOn(), still, len(names))
	}
	return names, still, whole
}

// functionOf returns the name of a frame's function, "?" if it has none.
func functionOf(f *frame.Frame) string {
	if m := f.Module(); m != nil {
		if im, bias, err := m.Image(); err == nil {
			if s, ok := im.Symbols().Find(f.AddressInBlock() - bias); ok {
				return im.Symbols().Name(s)
			}
		}
	}
	return "?"
}

// A thread returns from its deep stack and makes another one. A walked stack with frames of both
// must say so.
func TestStackThatMovesOn(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "mover.c", gdbtest.Plain...), "swing", "5000")
	deep, moved, n := 0, 0, 0
	for ; n < 300 || n < 5000 && moved == 0; n++ {
		names, still, _ := attachAndWalk(t, p.PID)
		first := ""
		for i, name := range names[:still] {
			if name != "left" && name != "right" {
				continue
			}
			if first == "" {
				first = name
			}
			if name != first {
				t.Fatalf("frame %d is in %s, inner ones are in %s, and nothing says that the thread has moved on", i, name, first)
			}
		}
		if len(names) > 1000 {
			deep++
		}
		if still < len(names) {
			moved++
		}
	}
	t.Logf("%d stacks, %d deep ones, of %d the outer part had moved on", n, deep, moved)
	if moved == 0 {
		t.Error("no stack has moved on: the test has not tested anything")
	}
}
