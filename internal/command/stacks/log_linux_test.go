package stacks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var logField = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S*)`)

// logged returns the lines of a log that say what, each as its values by their names.
func logged(t *testing.T, text, what string) (lines []map[string]string) {
	t.Helper()
	for line := range strings.Lines(text) {
		values := map[string]string{}
		for _, m := range logField.FindAllStringSubmatch(line, -1) {
			values[m[1]] = m[2]
			if plain, err := strconv.Unquote(m[2]); err == nil {
				values[m[1]] = plain
			}
		}
		if values["msg"] == what {
			lines = append(lines, values)
		}
	}
	return lines
}

// TestLog: the log has each thread with as many frames as gdb, and the debug file that is there, or
// lacking.
func TestLog(t *testing.T) {
	t.Setenv("DEBUGINFOD_URLS", "")
	a := commandtest.StartApart(t)
	want := map[string]int{}
	for _, th := range gdbtest.Backtrace(t, a.Of.PID) {
		for _, f := range th.Frames {
			if f.Type != "inline" {
				want[strconv.Itoa(th.TID)]++
			}
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	plain, _, err := commandtest.Run("attach", a.Pid)
	if err != nil {
		t.Fatal(err)
	}
	// The debug file is nowhere, then in a folder. The second log is added to the first.
	debug := filepath.Join(dir, ".build-id", a.Id[:2], a.Id[2:]+".debug")
	for round, flags := range [][]string{nil, {"--debug-dir", dir}} {
		if round == 1 {
			commandtest.Move(t, a.Debug, debug)
		}
		out, stderr, err := commandtest.Run(append([]string{"attach", a.Pid, "--log", path}, flags...)...)
		if err != nil || commandtest.WithoutHints(stderr) != "" || round == 0 && commandtest.StackIn(out) != commandtest.StackIn(plain) {
			t.Fatalf("%v %s\n%s\nwithout a log:\n%s", err, stderr, out, plain)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		threads := logged(t, string(text), "walked")
		if len(threads) != len(want)*(round+1) {
			t.Errorf("%d threads, gdb has %d:\n%s", len(threads), len(want), text)
		}
		for _, th := range threads {
			if th["frames"] != strconv.Itoa(want[th["tid"]]) || th["stop"] != "outermost" {
				t.Errorf("thread %s has %s frames and ends by %q, gdb has %d", th["tid"], th["frames"], th["stop"], want[th["tid"]])
			}
		}
		targets := logged(t, string(text), "target")
		if last := targets[len(targets)-1]; last["pid"] != a.Pid || last["exe"] != a.Program || last["threads"] != strconv.Itoa(len(want)) {
			t.Errorf("target %q", last)
		}
		found, lacks := "", ""
		for _, m := range logged(t, string(text), "module") {
			if m["build_id"] == a.Id {
				found, lacks = m["debug_file"], m["lacks"]
			}
		}
		if round == 0 && (found != "" || lacks != a.Id) || round == 1 && (!strings.HasSuffix(found, debug) || lacks != "") {
			t.Errorf("debug file %q, lacking %q: want %s", found, lacks, debug)
		}
	}
	out, stderr, err := commandtest.Run("attach", a.Pid, "--log", "-", "--merge")
	if err != nil || len(logged(t, stderr, "walked")) != len(want) || len(logged(t, stderr, "end")) != 1 || strings.Contains(out, "msg=") {
		t.Errorf("--log -: %v\n%s", err, stderr)
	}
}

// TestLogFull: a log on a full disk costs a warning, and no stack.
func TestLogFull(t *testing.T) {
	p := commandtest.StartDemo(t)
	out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--log", gdbtest.File(t, "/dev/full"))
	if err != nil || !strings.Contains(out, "walk_tree") || !strings.Contains(stderr, "warning: --log /dev/full: ") || !strings.Contains(stderr, "no space left") {
		t.Errorf("%v\n%s\n%s", err, stderr, out)
	}
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--log", t.TempDir()); err == nil || !strings.Contains(err.Error(), "--log") {
		t.Errorf("a folder: %v", err)
	}
}
