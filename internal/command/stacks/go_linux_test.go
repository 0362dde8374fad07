package stacks_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
)

// ends are functions of Go's run time without a caller. gdb goes on beyond them, with whatever is
// on the stack.
var ends = []string{"runtime.goexit", "runtime.mstart", "runtime.mcall"}

// TestGoGDB compares the threads of a Go program with gdb's, which come from .debug_frame, as far
// as the first function that changes or ends stacks. A signal stops the process, since one of its
// threads never rests.
func TestGoGDB(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget"))
	p.Stop(t)
	got := commandtest.Take(t, p.PID, &report.Flags{})
	for _, w := range gdbtest.Backtrace(t, p.PID) {
		i := slices.IndexFunc(got.Threads, func(th report.Thread) bool { return th.TID == w.TID })
		if i < 0 {
			t.Errorf("thread %d is missing", w.TID)
			continue
		}
		th := &got.Threads[i]
		if end := goFunction(th.Frames[len(th.Frames)-1].Function); !slices.Contains(ends, end) || !th.Whole {
			t.Errorf("thread %d ends in %s: %s %s\n%s", w.TID, end, th.Stop, th.Error, commandtest.SideBySide(th, w))
			continue
		}
		leaveOutPreempted(th, &w)
		leaveOutSignal(&w)
		w.Frames = w.Frames[:min(len(w.Frames), len(th.Frames))]
		if why := commandtest.Differs(th, w); why != "" {
			t.Errorf("thread %d %q: %s\n%s", w.TID, th.Name, why, commandtest.SideBySide(th, w))
		}
	}
}

// leaveOutPreempted removes from both stacks what gdb has wrong where asyncPreempt has interrupted
// a function: gdb takes that for a call, and looks for lines and inlined calls one byte before the
// PC.
func leaveOutPreempted(th *report.Thread, w *gdbtest.Thread) {
	k := slices.IndexFunc(th.Frames, func(f report.Frame) bool { return f.Function == "runtime.asyncPreempt" }) + 1
	if k == 0 || k >= len(th.Frames) || k >= len(w.Frames) {
		return
	}
	for k < len(th.Frames) && th.Frames[k].Type == "inline" {
		th.Frames = slices.Delete(th.Frames, k, k+1)
	}
	for k < len(w.Frames) && w.Frames[k].Type == "inline" {
		w.Frames = slices.Delete(w.Frames, k, k+1)
	}
	if k < len(w.Frames) {
		w.Frames[k].Function, w.Frames[k].Line = "", 0
	}
}

// leaveOutSignal removes gdb's CFA of signal frames. No table marks Go's code that returns from a
// signal: gdb knows it by its bytes, and takes the CFA from the frame, not from the interrupted
// stack.
func leaveOutSignal(w *gdbtest.Thread) {
	for i := range w.Frames {
		if f := &w.Frames[i]; f.Type == "sigtramp" {
			f.CFA = 0
		}
	}
}

// TestGoStripped finds, without DWARF and symbols, the stack that is known from the source; and all
// stacks are whole.
func TestGoStripped(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget", "-ldflags=-s -w"))
	p.Stop(t)
	doc := commandtest.Take(t, p.PID, &report.Flags{})
	const want = "main.blockInRead main.lockedInner main.lockedOuter main.locked main.main.gowrap1 runtime.goexit"
	found := false
	for i := range doc.Threads {
		th := &doc.Threads[i]
		var names []string
		for _, f := range th.Frames {
			names = append(names, goFunction(f.Function))
		}
		stack := strings.Join(names, " ")
		found = found || strings.HasSuffix(stack, want)
		if !th.Whole || !slices.Contains(ends, names[len(names)-1]) {
			t.Errorf("%s: %s %s", stack, th.Stop, th.Error)
		}
	}
	if !found {
		t.Errorf("no thread has %s", want)
	}
}

// goFunction returns a function's name as the source has it.
func goFunction(name string) string {
	return strings.TrimSuffix(commandtest.FunctionName(name), ".abi0")
}

// These are the parts that C has in the stacks of gocgo, and the parts that Go has in the stacks of
// its C.
const (
	goInC      = "libc C:stack_block C:stack_inner C:stack_outer C:_cgo_Cfunc_stack_outer runtime.asmcgocall runtime.cgocall main._Cfunc_stack_outer "
	goCalled   = goInC + "main.calledBack main.goCallback _cgoexp_goCallback runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallbackg runtime.cgocallback crosscall2 goCallback C:stack_calls_go "
	goBegins   = "main.main.func1 runtime.goexit"
	goNested   = goCalled + "C:_cgo_Cfunc_stack_calls_go runtime.asmcgocall runtime.cgocall main._Cfunc_stack_calls_go main.nested " + goBegins
	goInThread = goCalled + "C:stack_thread_inner C:stack_thread libc"
	goHandler  = "libc C:stack_block C:handler_inner C:handler <signal> "
)

// goMixed are the stacks of gocgo, by its source.
var goMixed = []string{
	goInC + "main.inC " + goBegins,
	goNested, goNested,
	goInThread, goInThread,
	goHandler + "libc C:stack_raises C:_cgo_Cfunc_stack_raises runtime.asmcgocall runtime.cgocall main._Cfunc_stack_raises main.signalInC " + goBegins,
	goHandler + "syscall main.signalInGo " + goBegins,
	goInC + "main.recovers main.panics.deferwrap1 runtime.gopanic runtime.panicmem runtime.sigpanic main.faults main.panics " + goBegins,
}

// TestGoMixed finds mixed stacks of Go and C as the source has them, also in programs that are
// stripped of all but the run time's own data.
func TestGoMixed(t *testing.T) {
	settings := []string{"CGO_ENABLED=1", "CGO_CFLAGS=-g -O2 -fomit-frame-pointer -Wa,--gsframe"}
	plain := gdbtest.Build(t, "gocgo", settings...)
	bare := filepath.Join(t.TempDir(), "bare")
	objcopy := exec.Command(gdbtest.Tool(t, "objcopy"), "-R", ".eh_frame", "-R", ".eh_frame_hdr", plain, bare)
	if out, err := objcopy.CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	for _, tt := range []struct {
		name, program string
		stripped      bool
	}{
		{"plain", plain, false},
		{"C by SFrame alone", bare, false},
		{"stripped", gdbtest.Build(t, "gocgo", append(settings[:2:2], "-ldflags=-s -w")...), true},
		{"stripped, position-independent", gdbtest.Build(t, "gocgo", append(settings[:2:2], "-buildmode=pie", "-ldflags=-s -w")...), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := gdbtest.Start(t, tt.program)
			doc := commandtest.Take(t, p.PID, &report.Flags{})
			compareGoMixed(t, doc, tt.program, tt.stripped)
			if t.Failed() || tt.name != "stripped" {
				return
			}
			path := filepath.Join(t.TempDir(), "core")
			commandtest.GCore(t, p.PID, path)
			s, err := targets.Core(path, core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if doc, _, err = report.Collect(s, &report.Flags{}); err != nil {
				t.Fatal(err)
			}
			compareGoMixed(t, doc, tt.program, tt.stripped)
		})
	}
}

func compareGoMixed(t *testing.T, doc *report.Document, program string, stripped bool) {
	t.Helper()
	want := slices.Clone(goMixed)
	if stripped {
		for i := range want {
			want[i] = regexp.MustCompile(`C:\S+`).ReplaceAllString(want[i], "?")
		}
	}
	for i := range doc.Threads {
		th := &doc.Threads[i]
		stack := goStack(th, program)
		for _, f := range th.Frames {
			if f.MovedOn {
				t.Errorf("%s: frame %d has moved on, and all threads are blocked", stack, f.Level)
				break
			}
		}
		if !th.Whole {
			t.Errorf("%s: %s %s", stack, th.Stop, th.Error)
		}
		k := slices.Index(want, stack)
		switch {
		case k >= 0:
			want = slices.Delete(want, k, k+1)
		case strings.HasSuffix(stack, " main.main runtime.main runtime.goexit"), strings.HasSuffix(stack, "runtime.mcall"),
			strings.HasSuffix(stack, " runtime.mstart0 runtime.mstart C:crosscall1 C:threadentry libc"),
			strings.HasSuffix(stack, " runtime.mstart0 runtime.mstart ? ? libc") && stripped:
		default:
			t.Errorf("a stack that the source does not have: %s", stack)
		}
	}
	for _, stack := range want {
		t.Errorf("missing: %s", stack)
	}
}

var cgoHash = regexp.MustCompile(`^(_cgo|_cgoexp)_[0-9a-f]{12}_`)

// goStack returns the functions of a stack. One name stands for all frames of the C library in a
// row, one for all of a system call. Names of the program's C functions begin with C:, and are ?
// without a symbol.
func goStack(th *report.Thread, program string) string {
	var names []string
	for _, f := range th.Frames {
		name := cgoHash.ReplaceAllString(goFunction(f.Function), "${1}_")
		switch {
		case f.Type == frame.SigTramp.String():
			name = "<signal>"
		case f.Module != program:
			name = "libc"
		case strings.Contains(name, "syscall"):
			name = "syscall"
		case name == "" || f.NameFrom != "":
			name = "?"
		case !strings.Contains(name, ".") && name != "crosscall2" && name != "goCallback" && !strings.HasPrefix(name, "_cgoexp"):
			name = "C:" + name
		}
		if several := name == "libc" || name == "syscall"; !several || names == nil || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
