//go:build linux

package command

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func newRunner(t *testing.T) *Runner {
	t.Helper()
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRun: the costs of commands whose costs are known, without this process's memory.
func TestRun(t *testing.T) {
	r := newRunner(t)
	ctx := context.Background()
	large := make([]byte, 200<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	c, err := r.Run(ctx, false, "sh", "-c", "echo said; sleep 0.1; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	if c.Status != 3 || c.Wall < 100*time.Millisecond || c.Peak < 100<<10 || c.Peak > int64(len(large))/4 {
		t.Errorf("sh: %+v", c)
	}
	large[0]++ // keeps large alive until here
	if out, err := os.ReadFile(r.Out); err != nil || string(out) != "said\n" {
		t.Errorf("its output: %q, %v", out, err)
	}
	// tail keeps a whole line in memory until it ends.
	if c, err = r.Run(ctx, false, "sh", "-c", "head -c 64000000 /dev/zero | tail -n 1 | cat >/dev/null"); err != nil {
		t.Fatal(err)
	}
	if c.Peak < 32<<20 {
		t.Errorf("what holds 64 MB: %+v", c)
	}
	if c, err = r.Run(ctx, false, "no-such-program"); err != nil || c.Status != 127 {
		t.Errorf("no such program: %+v, %v", c, err)
	}
	if c, err = r.Run(ctx, false, "sh", "-c", "kill -9 $$"); err != nil || c.Status != 128+9 {
		t.Errorf("a command that is killed: %+v, %v", c, err)
	}
}

// TestForget: a command finds what another one has kept, until that is forgotten.
func TestForget(t *testing.T) {
	r := newRunner(t)
	keep := func() (status int) {
		c, err := r.Run(t.Context(), false, "sh", "-c", `[ -e "$XDG_CACHE_HOME/one" ] || { echo > "$XDG_CACHE_HOME/one"; exit 4; }`)
		if err != nil {
			t.Fatal(err)
		}
		return c.Status
	}
	if first, second := keep(), keep(); first != 4 || second != 0 {
		t.Errorf("status %d, then %d", first, second)
	}
	if err := r.Forget(); err != nil {
		t.Fatal(err)
	}
	if again := keep(); again != 4 {
		t.Errorf("it is kept once more: status %d", again)
	}
}

// TestRunEnds: a command that takes too long is ended.
func TestRunEnds(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if c, err := r.Run(ctx, false, "sleep", "60"); err == nil {
		t.Errorf("no error: %+v", c)
	}
}

// TestHide: debug files are hidden from the command and from nobody else.
func TestHide(t *testing.T) {
	r := newRunner(t)
	const dir = "/usr/lib/debug"
	before, err := os.ReadDir(gdbtest.File(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if !r.CanHide(context.Background()) {
		gdbtest.Cannot(t, ErrRefused.Error())
	}
	c, err := r.Run(context.Background(), true, "ls", "-A", dir)
	if err != nil || c.Status != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	out, err := os.ReadFile(r.Out)
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("the command sees %q, %v", out, err)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Errorf("others see %d files, and saw %d before: %v", len(after), len(before), err)
	}
}
