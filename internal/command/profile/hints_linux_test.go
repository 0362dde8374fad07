package profile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A profile of a program without symbols says what helps, and so does one that perf has recorded of
// a program that is no longer there.
func TestHints(t *testing.T) {
	gdbtest.CanRecord(t)
	text, err := os.ReadFile(gdbtest.Build(t, "busy.c", "-O1", "-s"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "worker")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	hint := func(args ...string) string {
		t.Helper()
		_, stderr, err := commandtest.Run(args...)
		if err != nil {
			t.Fatalf("%q: %v %s", args, err, stderr)
		}
		var list []string
		for line := range strings.Lines(stderr) {
			if text, ok := strings.CutPrefix(line, "sfwalk: hint: "); ok {
				list = append(list, text)
			}
		}
		if len(list) != 1 {
			t.Fatalf("%q: hints %q\n%s", args, list, stderr)
		}
		return list[0]
	}
	p := gdbtest.StartRunning(t, program)
	pid := strconv.Itoa(p.PID)
	if got := hint("record", pid, "-d", "2s", "-o", filepath.Join(dir, "x.folded")); !strings.Contains(got, "worker has no symbols: build it with -g") {
		t.Errorf("record: %s", got)
	}
	data := filepath.Join(dir, "perf.data")
	perf := exec.Command(gdbtest.Perf(t), "record", "-B", "-N", "-q", "-e", "cpu-clock", "-o", data, "-p", pid, "--", "sleep", "2")
	if out, err := perf.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commandtest.Move(t, program, filepath.Join(dir, "moved"))
	if got := hint("perf", data, "-o", filepath.Join(dir, "y.folded")); !strings.Contains(got, program) || !strings.Contains(got, "--sysroot DIR") {
		t.Errorf("perf: %s", got)
	}
}
