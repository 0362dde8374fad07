package stacks_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The demo ends with commands to try next. They are run here but for top, which takes a terminal;
// TestTopExamples runs it.
func TestDemoNext(t *testing.T) {
	gdbtest.NeedAMD64(t)
	commandtest.CanRecord(t)
	out, _, err := commandtest.Run("demo")
	if err != nil {
		t.Fatal(err)
	}
	_, next, ok := strings.Cut(out, "\nNext, ")
	if !ok {
		t.Fatalf("the demo does not say what is next:\n%s", out)
	}
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	p := gdbtest.StartRunning(t, exe, "1", "5")
	t.Chdir(t.TempDir())
	commandtest.GCore(t, p.PID, "core")
	names := strings.NewReplacer("core.4242", "core", "4242", strconv.Itoa(p.PID), "-d 10s", "-d 300ms")
	ran := 0
	for _, m := range regexp.MustCompile(`(?m)^  (sfwalk .*?)   +`).FindAllStringSubmatch(next, -1) {
		ran++
		args := strings.Fields(names.Replace(m[1]))[1:]
		out, said, err := commandtest.Run(args...)
		if err != nil || !strings.Contains(out, "main") && args[0] != "record" {
			t.Errorf("%s: %v\n%s%s", m[1], err, out, said)
		}
	}
	if ran < 4 || !strings.Contains(next, "sfwalk top 4242\n") {
		t.Errorf("%d commands were run of:\n%s", ran, next)
	}
	if len(gdbtest.Glob(t, "profile.svg")) != 1 {
		t.Error("there is no profile.svg")
	}
	// Nobody but a reader wants it.
	file := filepath.Join(t.TempDir(), "stacks.txt")
	for _, args := range [][]string{{"demo", "--json"}, {"demo", "-o", file}} {
		if out, said, err := commandtest.Run(args...); err != nil || strings.Contains(out, "Next, ") {
			t.Errorf("%q: %v\n%s%s", args, err, out, said)
		}
	}
}
