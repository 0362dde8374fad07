package commandtest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/live"
)

// StartTarget compiles a program of testdata/progs, and starts it.
func StartTarget(t *testing.T, src string, flags, args []string) *gdbtest.Process {
	t.Helper()
	if filepath.Ext(src) == "" {
		return gdbtest.Start(t, gdbtest.Testdata(t, "bin", src), args...)
	}
	return gdbtest.Start(t, gdbtest.Build(t, src, flags...), args...)
}

// Take attaches to a process and makes its document.
func Take(t *testing.T, pid int, flags *report.Flags) *report.Document {
	t.Helper()
	s, err := targets.Process(context.Background(), pid, live.Options{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, warnings, err := report.Collect(s, flags)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		t.Logf("warning: %s", w)
	}
	return doc
}

// CompareAll compares the stacks of a document with gdb's, thread by thread.
func CompareAll(t *testing.T, got *report.Document, want []gdbtest.Thread) {
	t.Helper()
	if len(got.Threads) != len(want) {
		t.Fatalf("%d threads, gdb has %d", len(got.Threads), len(want))
	}
	frames := 0
	for _, w := range want {
		var th *report.Thread
		for i := range got.Threads {
			if got.Threads[i].TID == w.TID {
				th = &got.Threads[i]
			}
		}
		if th == nil {
			t.Errorf("thread %d is missing", w.TID)
			continue
		}
		frames += len(w.Frames)
		if why := Differs(th, w); why != "" {
			t.Errorf("thread %d %q: %s\n%s", w.TID, th.Name, why, SideBySide(th, w))
		}
	}
	t.Logf("%d threads, %d frames", len(want), frames)
}

// Differs compares frame by frame. Beyond a return address of 0, or one that is no code, gdb
// reads on and prints whatever is on the stack; sfwalk shows the address, unless it is 0, and
// stops.
func Differs(th *report.Thread, w gdbtest.Thread) string {
	i, called := 0, false
	for _, g := range w.Frames {
		if g.PC == 0 && called {
			break
		}
		// If a function on the way has parts, gdb shows no tail calls: package logical's tests know
		// when.
		for i < len(th.Frames) && th.Frames[i].Type == "tailcall" && g.Type != "tailcall" && th.Frames[i].PC.V != g.PC {
			i++
		}
		if i == len(th.Frames) {
			return fmt.Sprintf("ends after %d frames (%s, %s), gdb has more", i, th.Stop, th.Error)
		}
		f := th.Frames[i]
		i++
		noCode := f.Module == "" || i == len(th.Frames) && th.Stop == frame.NotCode.String() // data of a module
		if f.PC.V == g.PC && noCode && called {
			break
		}
		called = g.Type != "sigtramp"
		switch {
		case f.PC.V != g.PC:
			return fmt.Sprintf("frame %d: PC %#x, gdb has %#x", f.Level, f.PC.V, g.PC)
		case f.Type != g.Type:
			return fmt.Sprintf("frame %d: type %s, gdb has %s", f.Level, f.Type, g.Type)
		case g.CFA != 0 && f.CFA.V != g.CFA:
			return fmt.Sprintf("frame %d: CFA %#x, gdb has %#x", f.Level, f.CFA.V, g.CFA)
		case f.ID != "" && g.CFA != 0 && g.Code != 0 && f.ID != gdbID(g):
			return fmt.Sprintf("frame %d: ID %s, gdb has %s", f.Level, f.ID, gdbID(g))
		case g.Function != "" && g.Type != "sigtramp" && FunctionName(f.Function) != FunctionName(g.Function):
			return fmt.Sprintf("frame %d: function %s, gdb has %s", f.Level, f.Function, g.Function)
		case g.Line != 0 && (f.Line != g.Line || filepath.Base(f.File) != filepath.Base(g.File)):
			return fmt.Sprintf("frame %d: %s:%d, gdb has %s:%d", f.Level, f.File, f.Line, g.File, g.Line)
		}
	}
	if i != len(th.Frames) {
		return fmt.Sprintf("has %d frames, gdb %d", len(th.Frames), i)
	}
	return ""
}

// gdbID is gdb's frame ID.
func gdbID(g gdbtest.Frame) string {
	id := frame.ID{Stack: g.CFA, Code: g.Code, Has: frame.HasStack | frame.HasCode}
	switch g.Type {
	case "inline":
		id.Depth = g.Artificial
	case "tailcall":
		id.Tail = g.Artificial
	}
	return id.String()
}

// FunctionName returns a function's name without its parameters, which gdb shows in some places
// only.
func FunctionName(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return name
}

// SideBySide returns both stacks for a message, a frame a line.
func SideBySide(th *report.Thread, w gdbtest.Thread) string {
	var b strings.Builder
	for i := range min(max(len(th.Frames), len(w.Frames)), 40) {
		var l, r string
		if i < len(th.Frames) {
			f := th.Frames[i]
			l = fmt.Sprintf("%x %x %s %s:%d %s", f.PC.V, f.CFA.V, f.Function, filepath.Base(f.File), f.Line, f.Sniffer)
		}
		if i < len(w.Frames) {
			f := w.Frames[i]
			r = fmt.Sprintf("%x %x %s %s:%d", f.PC, f.CFA, f.Function, filepath.Base(f.File), f.Line)
		}
		fmt.Fprintf(&b, "%3d %-75s | %s\n", i, l, r)
	}
	return b.String()
}
