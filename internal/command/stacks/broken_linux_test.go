package stacks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestBroken looks at stacks that are broken on purpose. The source, corrupt.c, tells which frames
// remain. Where gdb's stack is as long, its frames are compared, too.
func TestBroken(t *testing.T) {
	flags := []string{"-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe"}
	for _, tt := range []struct{ how, stop, outermost string }{
		{"smashed", "PC outside code", ""},
		{"data", "PC outside code", ""},
		{"zeroed", "no saved PC", "victim"},
		{"cycle", "same ID", "victim"},
		{"inward", "inner ID", "caller"},
		{"unreadable", "", "caller"}, // below the stack or above it, as the kernel chose
		{"handmade", "inner ID", "victim"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Build(t, "corrupt.c", flags...), tt.how)
			doc := commandtest.Take(t, p.PID, &report.Flags{})
			th := doc.Threads[0]
			if last := th.Frames[len(th.Frames)-1]; th.Whole || last.Function != tt.outermost || tt.stop != "" && th.Stop != tt.stop {
				t.Errorf("stops in %q by %q (%s), want %q by %q", last.Function, th.Stop, th.Error, tt.outermost, tt.stop)
			}
			want := gdbtest.Backtrace(t, p.PID)[0].Frames
			for i := range min(len(want), len(th.Frames)) {
				if want[i].PC != th.Frames[i].PC.V && want[i].PC != 0 {
					t.Errorf("frame %d: PC %#x, gdb has %#x", i, th.Frames[i].PC.V, want[i].PC)
				}
			}
		})
	}
}

// TestNoTables unwinds functions without any table by their code. The calls must have the order of
// the source, nocfi.c, and gdb's as far as gdb knows it.
func TestNoTables(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "nocfi.c", gdbtest.Plain...))
	th := commandtest.Take(t, p.PID, &report.Flags{}).Threads[0]
	var names, by []string
	for _, f := range th.Frames {
		names, by = append(names, f.Function), append(by, f.Sniffer)
	}
	want := []string{"leaf", "saves", "without_fp", "with_fp", "enters", "main"}
	i := slices.Index(names, want[0])
	if i < 0 || len(names) < i+6 || !slices.Equal(names[i:i+6], want) || !th.Whole {
		t.Fatalf("stack %q, %s %s", names, th.Stop, th.Error)
	}
	if got := strings.Join(by[i+1:i+4], " "); got != "prologue prologue prologue" {
		t.Errorf("unwound by %s", got)
	}
}
