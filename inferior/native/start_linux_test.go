package native_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A program that was started stands before its first instruction. It runs as one that nobody holds.
func TestStart(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := gdbtest.Build(t, "frames.c", "-O1", "-g", "-no-pie", "-fno-pie")
	for range 5 {
		cmd := exec.Command(path, "2")
		var out strings.Builder
		cmd.Stdout = &out
		p, err := native.Start(t.Context(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		entry, err := p.EntryPoint()
		if err != nil {
			t.Fatal(err)
		}
		th := p.Inferiors()[0]
		if m := p.Modules().Find(pcOf(t, p, th)); m == nil || !strings.HasPrefix(filepath.Base(m.Path), "ld") {
			t.Errorf("the program stands at %#x, in module %v", pcOf(t, p, th), m)
		}
		if err := p.SetBreakpoint(entry); err != nil {
			t.Fatal(err)
		}
		if e := next(t, p, inferior.Resume{}); e.Kind != inferior.Breakpoint || pcOf(t, p, th) != entry {
			t.Fatalf("event %+v at %#x", e, pcOf(t, p, th))
		}
		e := next(t, p, inferior.Resume{})
		for ; e.Kind == inferior.Signalled; e = next(t, p, inferior.Resume{Thread: e.Thread, Signal: e.Signal.Number}) {
		}
		if e.Kind != inferior.Exited || e.Status != 0 {
			t.Errorf("event %+v", e)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if want := "ready\nround 1 25\nround 2 25\n"; out.String() != want {
			t.Errorf("output %q, want %q", out.String(), want)
		}
	}
	if _, err := native.Start(t.Context(), exec.Command("/nonexistent")); err == nil {
		t.Error("a program that is not there was started")
	}
}
