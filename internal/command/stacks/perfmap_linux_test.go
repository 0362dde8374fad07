package stacks_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPerfMap: code that a process has made has the name that the process's perf map gives it, in
// every form of the output, unasked. A map of another user, or one without an end, names nothing.
func TestPerfMap(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "mapped.c", "-O1", "-fno-omit-frame-pointer"), "map")
	pid, path := strconv.Itoa(p.PID), fmt.Sprintf("/tmp/perf-%d.map", p.PID)
	t.Cleanup(func() { os.Remove(path) })
	for _, args := range [][]string{nil, {"--merge"}, {"--tree"}, {"--json"}, {"--format", "folded"}, {"--explain"}} {
		out, warnings, err := commandtest.Run(append([]string{"attach", pid}, args...)...)
		if err != nil || warnings != "" || !strings.Contains(out, "made_code") || strings.Contains(out, "??") {
			t.Errorf("%v: %v, %s%s", args, err, out, warnings)
		}
	}
	map1, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A later line counts; and names are made printable.
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, append([]byte(text), map1...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	where, _, _ := strings.Cut(string(map1), " ")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "%s b JS:~later\x1b[31m /srv/x.js:3:15\n", where)
	f.Close()
	if out, _, _ := commandtest.Run("attach", pid); !strings.Contains(out, "in JS:~later\uFFFD[31m (…) at /srv/x.js:3") {
		t.Errorf("the last line does not count: %s", out)
	}
	write(strings.Repeat("0 ffffffffffffffff other\n", 3<<20)) // the bound comes before made_code
	if out, warnings := commandtest.Bounded(t, "attach", pid); !strings.Contains(out, " in other") || !strings.Contains(warnings, "it lists more than 1048576 functions") {
		t.Errorf("%s%s", out, warnings)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	commandtest.Bounded(t, "attach", pid)
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root gives files away")
	}
	write("")
	if err := os.Chown(path, 65534, -1); err != nil {
		gdbtest.Cannot(t, err.Error())
	}
	if out, warnings, _ := commandtest.Run("attach", pid); strings.Contains(out, "made_code") || !strings.Contains(warnings, "it belongs to another user") {
		t.Errorf("another user's map: %s%s", out, warnings)
	}
}
