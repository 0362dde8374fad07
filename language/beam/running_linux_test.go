package beam_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
)

// kinds are what running.erl can do at the innermost end of its stack.
var kinds = strings.Fields("sum body bif binary garbage big ets throw map closure float compare bits port message yield native dirty")

// TestRunning stops a process of Erlang anywhere: in compiled code, in what that shares, in C, in
// the collector, in native functions. The process has told its stack before. So the frames outward
// of the function that it has called then must be just these.
func TestRunning(t *testing.T) {
	dir := withNative(t)
	for _, m := range machines(t) {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "stack")
			p := m.start(t, dir, append([]string{"-run", "running", "start", file}, kinds...)...)
			const stops = 330
			compared, elsewhere, native := 0, 0, 0
			peer := languagetest.NewPeer(t)
			for tries := 0; compared < stops; tries++ {
				if tries == 20*stops {
					t.Fatalf("only %d of %d stops were within the told stack", compared, tries)
				}
				p.Stop(t)
				_, told, _ := strings.Cut(readFile(t, file), "\t")
				d := runner(languagetest.Attach(t, p.PID, decorator, nil))
				if told == "-" {
					d = nil // it has not told its stack yet
				}
				if d != nil {
					// What has told the stack runs no more, and its caller is elsewhere.
					peer.Compare(calls(told)[2:], calls(text(framesOf(d))), peer.Calls(t, p.PID, d.Stack.Thread.ID()))
				}
				p.Continue(t)
				if d == nil {
					elsewhere++ // between two turns of a scheduler
					continue
				}
				compared++
				if d.Stack.Frames[0].Module() != nil && d.Said.At[0] == nil {
					native++
				}
				holdRunning(t, d, told)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d stops compared, %d of them in C, and %d elsewhere", compared, native, elsewhere)
		})
	}
}

// calls reads a stack as the process tells it.
func calls(told string) (list []languagetest.Call) {
	for _, text := range strings.Split(told, ";") {
		function, place, _ := strings.Cut(text, "@")
		at := strings.LastIndexByte(place, ':')
		line, _ := strconv.Atoi(place[at+1:])
		list = append(list, languagetest.Call{Function: function, File: place[:max(at, 0)], Line: line})
	}
	return list
}

// withNative is compiled, with the native functions of running.erl.
func withNative(t *testing.T) string {
	t.Helper()
	dir := compiled(t)
	include := filepath.Join(erlangRoot(t), "usr", "include")
	if out, err := exec.Command(gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-O1", "-I", include, "-o", filepath.Join(dir, "running_nif.so"), "testdata/running_nif.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// framesOf returns the frames of a thread.
func framesOf(d *languagetest.Thread) (list []language.Frame) {
	for _, f := range d.Frames() {
		list = append(list, f.Frame)
	}
	return list
}

// runner returns the thread with frames of running.erl; nil if there is none, or if the process is
// about to write into the file.
func runner(all map[int]*languagetest.Thread) *languagetest.Thread {
	for _, d := range all {
		for _, f := range d.Frames() {
			switch {
			case f.Function == "running:note/2":
				return nil
			case strings.HasPrefix(f.Function, "running:"):
				return d
			}
		}
	}
	return nil
}

// holdRunning holds a stack against the one that the process has told: the functions that told it,
// which do not run any more, then the one that calls spin/2 now, and its callers.
func holdRunning(t *testing.T, d *languagetest.Thread, told string) {
	t.Helper()
	frames := framesOf(d)
	spin := -1
	for i, f := range frames {
		if f.Function == "running:spin/2" {
			spin = i
		}
	}
	list := strings.Split(told, ";")
	if len(list) < 2 || !strings.HasPrefix(list[0], "running:announce/1@") || !strings.HasPrefix(list[1], "running:down/3@") {
		t.Fatalf("the process tells %q", told)
	}
	if len(d.Warnings()) > 0 {
		t.Errorf("warnings: %q", d.Warnings())
	}
	if !d.Stack.Whole {
		t.Errorf("the stack ends early: %v", d.Stack.Frames[len(d.Stack.Frames)-1].StopReason())
	}
	if spin < 0 || spin+1 >= len(frames) || frames[spin+1].Function != "running:down/3" {
		t.Errorf("no call of spin/2 by down/3 in\n\t%s", text(frames))
	} else if got, want := text(frames[spin+2:]), strings.Join(list[2:], ";"); got != want {
		t.Errorf("the frames are\n\t%s\nthe process tells\n\t%s\nthe whole stack is\n\t%s", got, want, text(frames))
	}
	if t.Failed() {
		for _, f := range d.Stack.Frames {
			t.Logf("#%d %#x %v %s", f.Level, f.PC(), f.Type(), f.Sniffer())
		}
	}
}

// erlangRoot returns the folder of Erlang's libraries.
func erlangRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "erl"), "-noshell", "-eval", `io:format("~s", [code:root_dir()]), halt().`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
