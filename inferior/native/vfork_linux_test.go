package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A child of vfork(2) is not made to call functions: what they write would be its parent's.
func TestVforkChild(t *testing.T) {
	src := filepath.Join(t.TempDir(), "vforks.c")
	text := "#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts(\"ready\"); fflush(stdout); if (!vfork()) { char c; read(0, &c, 1); _exit(0); } return 0; }\n"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "gcc")))
	child := childOf(t, p.PID)
	t.Cleanup(func() { unix.Kill(child, unix.SIGKILL) }) // its parent waits for it
	held, err := native.Attach(t.Context(), child, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := inferior.NewCaller(held, held.Thread(child)); err == nil || !strings.Contains(err.Error(), "vfork(2)") {
		t.Errorf("%v", err)
	}
}

// childOf waits until the main thread of a process has made one.
func childOf(t *testing.T, pid int) (child int) {
	t.Helper()
	gdbtest.Await(t, "the program has a child", func() bool {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		child, _ = strconv.Atoi(strings.TrimSpace(string(list)))
		return child != 0
	})
	return child
}

// A thread waits for a child of vfork(2) when the process is held: it stops when the child has
// ended, and breakpoints are as always.
func TestVforkBefore(t *testing.T) {
	type attached struct {
		held *native.Process
		err  error
	}
	for name, o := range map[string]native.Options{"waits": {Timeout: time.Minute}, "does not wait": {Timeout: time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "vforks", "2")
			child := childOf(t, p.PID)
			t.Cleanup(func() { unix.Kill(child, unix.SIGKILL) })
			done := make(chan attached)
			go func() {
				held, err := native.Attach(t.Context(), p.PID, o)
				done <- attached{held, err}
			}()
			ends := func() { p.Stdin.Write([]byte("x")) }
			if o.Timeout == time.Minute {
				gdbtest.Await(t, "the thread is traced", func() bool { return status(t, p.PID, p.PID, "TracerPid") != "0" })
				ends()
			}
			a := <-done
			if a.err != nil {
				t.Fatal(a.err)
			}
			defer a.held.Close()
			wants := o.Timeout != time.Minute
			blocked := fmt.Sprintf("thread %d cannot be stopped", p.PID) // on a busy machine, others have no time to stop, either
			if w := a.held.Warnings(); len(w) > 0 != wants || wants && !slices.ContainsFunc(w, func(w string) bool { return strings.HasPrefix(w, blocked) }) {
				t.Errorf("warnings %q", w)
			}
			at := p.symbols["step"]
			var before, there [1]byte
			p.read(t, at, before[:])
			if err := a.held.SetBreakpoint(at); err != nil {
				t.Fatal(err)
			}
			if p.read(t, at, there[:]); there == before {
				t.Fatal("no breakpoint is in the code")
			}
			if o.Timeout != time.Minute {
				ends()
			}
			for hits := 0; hits < 20 || len(a.held.Inferiors()) < 3; {
				if e := next(t, a.held, inferior.Resume{}); e.Kind == inferior.Breakpoint {
					hits++
				} else if e.Kind != inferior.Signalled || e.Signal.Number != int(unix.SIGCHLD) {
					t.Fatalf("event %+v", e)
				}
			}
			if err := a.held.Close(); err != nil {
				t.Fatal(err)
			}
			free(t, p, 0)
		})
	}
}

// Processes of clone(2) that are neither fork's nor threads: one has its own memory, without
// breakpoints; one has the memory of the program, and comes to the breakpoints there as a thread
// does.
func TestClones(t *testing.T) {
	p := start(t, "clones")
	held := p.attach(t, native.Options{})
	at := p.symbols["step"]
	if err := held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte("x"))
	var hits []int
	for len(hits) < 2 {
		e := next(t, held, inferior.Resume{})
		if e.Kind == inferior.Breakpoint && pcOf(t, held, e.Thread) == at {
			hits = append(hits, e.TID)
		} else if e.Kind != inferior.Signalled || e.Signal.Number != int(unix.SIGCHLD) {
			t.Fatalf("event %+v", e)
		}
	}
	if hits[0] == p.PID || hits[1] != p.PID {
		t.Errorf("processes %v have come to the breakpoint, want another one, then %d", hits, p.PID)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	line, err := p.Stdout.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "cloned 1792 1792" { // exit status 7
		t.Errorf("%q, %v", line, err)
	}
	undisturbed(t, p.PID)
	sameCode(t, p)
}
