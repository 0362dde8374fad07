package stacks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
	gdbtest.Await(t, "made_code runs", func() bool { // the program says that it is ready before
		out, _, _ := commandtest.Run("attach", pid)
		return strings.Contains(out, "made_code")
	})
	for _, args := range [][]string{nil, {"--merge"}, {"--tree"}, {"--json"}, {"--format", "folded"}, {"--explain"}} {
		out, warnings, err := commandtest.Run(append([]string{"attach", pid}, args...)...)
		if err != nil || warnings != "" || !strings.Contains(out, "made_code") || strings.Contains(out, "??") {
			t.Errorf("%v: %v, %s%s", args, err, out, warnings)
		}
	}
	// A map that is older than the process is of another one, which had its number.
	long := time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if out, warnings, _ := commandtest.Run("attach", pid); strings.Contains(out, "made_code") || strings.Contains(warnings, "perf-") {
		t.Errorf("an old map: %s%s", out, warnings)
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

// TestPerfMapPlugin: the plug-in for perf maps that is installed beside sfwalk is asked where a
// process has code for it, and nowhere else; by its name, it need not lie in the current folder. If
// others may exchange it, it is left out.
func TestPerfMapPlugin(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := commandtest.Install(t, "sfwalk", "sfwalk-full")
	sfwalk, plugin := filepath.Join(dir, "sfwalk"), filepath.Join(dir, "sniffer-perfmap")
	build := exec.Command(gdbtest.Tool(t, "go"), "build", "-o", plugin, "./cmd/sniffer-perfmap")
	build.Dir, build.Env = filepath.Dir(gdbtest.Testdata(t)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no directory of plug-ins
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "mapped.c", "-O1", "-fno-omit-frame-pointer"), "map")
	pid, path := strconv.Itoa(p.PID), fmt.Sprintf("/tmp/perf-%d.map", p.PID)
	t.Cleanup(func() { os.Remove(path) })
	gdbtest.Await(t, "made_code runs", func() bool {
		out, _, _ := commandtest.Run("attach", pid)
		return strings.Contains(out, "made_code")
	})
	attach := func(args ...string) (stack, warnings string) {
		t.Helper()
		out, warnings, code := commandtest.RunInstalled(t, sfwalk, append([]string{"attach", pid, "--json"}, args...)...)
		if code != 0 || !strings.Contains(out, `"function":"made_code"`) {
			t.Errorf("%v: %d, %s%s", args, code, out, warnings)
		}
		return out, warnings
	}
	const claimed = `"sniffer":"perfmap"`
	if out, warnings := attach(); !strings.Contains(out, claimed) || warnings != "" {
		t.Errorf("it is not asked: %s%s", out, warnings)
	}
	if out, _ := attach("--no-plugins"); strings.Contains(out, claimed) {
		t.Errorf("--no-plugins: %s", out)
	}
	for _, name := range []string{"perfmap", "sniffer-perfmap"} {
		if out, warnings := attach("--no-plugins", "--plugin", name); !strings.Contains(out, claimed) || warnings != "" {
			t.Errorf("--plugin %s: %s%s", name, out, warnings)
		}
	}
	if _, said, code := commandtest.RunInstalled(t, sfwalk, "attach", pid, "--plugin", "nosuch"); code != 2 || !strings.Contains(said, "nor is there a plug-in of this name beside sfwalk or in ") {
		t.Errorf("--plugin nosuch: %d, %s", code, said)
	}
	other := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-O2"))
	if out, said, _ := commandtest.RunInstalled(t, sfwalk, "attach", strconv.Itoa(other.PID), "--log", "-"); strings.Contains(out+said, "perfmap") {
		t.Errorf("a process without made code: %s%s", out, said)
	}
	if err := os.Chmod(plugin, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, warnings := attach(); strings.Contains(out, claimed) || !strings.Contains(warnings, "it is left out") {
		t.Errorf("others may write to it: %s%s", out, warnings)
	}
	if out, said, code := commandtest.RunInstalled(t, sfwalk, "attach", pid, "--plugin", "perfmap"); code == 0 {
		t.Errorf("--plugin perfmap, and others may write to it: %s%s", out, said)
	}
}
