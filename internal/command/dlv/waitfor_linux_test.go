package dlv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// copyOf copies a program to a new folder, whose name no other process's command line begins with.
func copyOf(t *testing.T, program string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWaitFor: the process is found when it comes, by the beginning of its command line, arguments
// included.
func TestWaitFor(t *testing.T) {
	path := copyOf(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...))
	type answer struct {
		pid int
		err error
	}
	found := make(chan answer, 1)
	go func() {
		w := waitFor{prefix: path + " 2", interval: 1}
		pid, err := w.process(t.Context())
		found <- answer{pid, err}
	}()
	other := gdbtest.Start(t, path, "1")
	p := gdbtest.Start(t, path, "2")
	if a := <-found; a.err != nil || a.pid != p.PID {
		t.Errorf("%+v, want %d, not %d", a, p.PID, other.PID)
	}

	never := waitFor{prefix: path + " 3", duration: 0.001}
	if _, err := never.process(t.Context()); err == nil || !strings.Contains(err.Error(), "no such process has come in time") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never.duration = 0
	if _, err := never.process(ctx); !errors.Is(err, exit.ErrInterrupted) {
		t.Error(err)
	}
	for _, w := range []waitFor{{prefix: "x", interval: -1}, {prefix: "x", duration: -1}} {
		if _, err := w.process(t.Context()); !errors.As(err, new(exit.Usage)) {
			t.Error(err)
		}
	}
}

func TestDlvWaitFor(t *testing.T) {
	path := copyOf(t, gdbtest.Build(t, "chain.c"))
	p := gdbtest.Start(t, path)
	cmd, addr := startDlv(t, "attach", "--waitfor", path, "--waitfor-interval", "0.5", "--waitfor-duration", "60000")
	if !traced(t, p.PID) {
		t.Error("it is not attached to")
	}
	if out := dlvConnect(t, addr, "stack", "exit -d"); !strings.Contains(out, "main") {
		t.Errorf("no stack:\n%s", out)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, stderr, err := commandtest.Run("dlv", "attach", "4242", "--waitfor", path); err == nil || !strings.Contains(stderr+err.Error(), "exclude each other") {
		t.Error(err, stderr)
	}
}
