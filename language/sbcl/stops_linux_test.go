package sbcl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/sbcl"
)

// asks is the signal whose handler tells the stack: SIGRTMIN+7 of the C library.
const asks = syscall.Signal(34 + 7)

// lisp returns the path of SBCL, and testdata/oracle.c as a library.
func lisp(t *testing.T) (program, library string) {
	t.Helper()
	gdbtest.NeedAMD64(t)
	program = gdbtest.Tool(t, "sbcl")
	source, err := filepath.Abs("testdata/oracle.c")
	if err != nil {
		t.Fatal(err)
	}
	return program, gdbtest.Compile(t, source, gdbtest.Tool(t, "gcc"), "-shared", "-fPIC", "-O1")
}

// spoken is a line of SBCL's backtrace.
var spoken = regexp.MustCompile(`^ *\d+: fp=\S+ pc=0x[0-9a-f]+ (.*)$`)

// said is what SBCL says of a stack up to where C runs: functions, the innermost first.
func said(t *testing.T, text string) (names []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		m := spoken.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m == nil && line != "\n":
			t.Fatalf("SBCL says %q", line)
		case m == nil || strings.HasPrefix(m[1], "Foreign function") || m[1] == "(unknown lisp object)":
			return names
		}
		names = append(names, m[1])
	}
	return names
}

// functions returns the functions of Lisp of a stack, the innermost first.
func functions(d *languagetest.Thread) (names []string) {
	for _, f := range d.Frames() {
		names = append(names, f.Function)
	}
	return names
}

func physical(d *languagetest.Thread) string {
	var text strings.Builder
	for _, f := range d.Stack.Frames {
		cfa, _ := f.CFA()
		fmt.Fprintf(&text, "%d %#x %#x %s", f.Level, f.PC(), cfa, f.Sniffer())
		if m := f.Module(); m != nil {
			fmt.Fprintf(&text, " %s+%#x", filepath.Base(m.Path), f.PC()-m.Lo())
		}
		text.WriteByte('\n')
	}
	last := d.Stack.Frames[len(d.Stack.Frames)-1]
	_, err := last.Prev()
	fmt.Fprintln(&text, last.StopReason(), err, last.Claim().Declined)
	return text.String()
}

// TestStops stops a busy program at random moments. Its frames are the ones that SBCL's run time
// tells at the same moment.
//
// SBCL follows frame pointers. While a function is called or returns, its second line is of a
// return address that is not in its place, or it leaves out the caller: the rest of the stack is
// held against it then (and TestStepsSBCL of package sniffer has what is left). It ends where C has
// called Lisp; each stack must lead to the program's own outermost functions. While C runs, SBCL
// knows no way to Lisp: such stops are counted.
func TestStops(t *testing.T) {
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	program, library := lisp(t)
	busy, err := filepath.Abs("testdata/busy.lisp")
	if err != nil {
		t.Fatal(err)
	}
	p := languagetest.StartTold(t, program, "--script", busy, library)
	p.Signal = asks
	whole, moments, routines, inC, frames := 0, 0, 0, 0, 0
	var outermost []string
	for n := 0; n < stops && !t.Failed(); n++ {
		var d *languagetest.Thread
		text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, sbcl.Decorator{}, nil)[p.PID] })
		if text == "" {
			t.Fatal("SBCL has died")
		}
		want, got := said(t, text), functions(d)
		outer := got[max(0, slices.Index(got, "BUSY::MAIN")):]
		if outermost == nil {
			outermost = outer
		}
		if !d.Stack.Whole || len(d.Warnings()) > 0 || !slices.Equal(outer, outermost) || len(outer) < 10 {
			t.Errorf("%q\n%s\n%s", d.Warnings(), strings.Join(got, "\n"), physical(d))
		}
		frames += len(got)
		switch {
		case len(want) == 0:
			inC++
		case d.Frames()[0].Kind != "" && (same(want[1:], got[1:]) || same(want[1:], got[2:])):
			routines++ // most have no frame: then SBCL leaves out who has called them
		case same(want, got):
			whole++
		case want[0] == got[0] && len(want) > 1 && (same(want[2:], got[2:]) || same(want[2:], got[1:]) || same(want[1:], got[2:])):
			moments++
		default:
			t.Errorf("SBCL says\n%s\nand sfwalk\n%s\n%s", text, strings.Join(got, "\n"), physical(d))
		}
	}
	t.Logf("%d stops: %d equal, %d in assembly routines, %d within a call or a return, %d in C; %d frames", stops, whole, routines, moments, inC, frames)
	if whole < stops/2 {
		t.Error("too few are equal")
	}
}

// same reports whether a stack begins with what SBCL tells of it.
func same(want, got []string) bool {
	return len(got) >= len(want) && slices.Equal(want, got[:len(want)])
}
