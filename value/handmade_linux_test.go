package value_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestHandmadeLocals reads debug information as few compilers write it. The program's source tells
// the values; where gdb has one it must be the same.
func TestHandmadeLocals(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "handmade.c"), gdbtest.Tool(t, "gcc"), "-g0", "-no-pie")
	p := gdbtest.StartRunning(t, program)
	p.Runs(t, 20*time.Millisecond)
	wants := map[string]map[string]string{
		"leaf":   {},
		"narrow": {"stacked": "1234", "global": "77"},
		"wide":   {"pair": "{first = 11, second = 22}", "one": "11"},
	}
	own, _ := locals(t, attach(t, p.PID), pretty)
	for who, threads := range map[string][]gdbtest.FullThread{
		"sfwalk": own, "gdb": valuetest.Parse(t, gdbtest.Full(t, p.PID, "")),
	} {
		n := 0
		for _, f := range threads[0].Frames {
			want, ok := wants[f.Function]
			if !ok {
				continue
			}
			n++
			if len(f.Locals) != len(want) {
				t.Errorf("%s: %s has the variables %v, want %v", who, f.Function, f.Locals, want)
			}
			for _, l := range f.Locals {
				// gdb computes with addresses of 4 bytes in a unit that has such.
				if l.Text != want[l.Name] && !(who == "gdb" && strings.Contains(l.Text, "Cannot access memory")) {
					t.Errorf("%s: %s: %s = %s, want %s", who, f.Function, l.Name, l.Text, want[l.Name])
				}
			}
		}
		if n != len(wants) {
			t.Errorf("%s: %d functions are known, want %d: %v", who, n, len(wants), threads)
		}
	}
	if got := printed(t, attach(t, p.PID), "leaf", "counter", pretty); len(got) != 1 || got[0] != "77" {
		t.Errorf("counter: %q", got)
	}
}
