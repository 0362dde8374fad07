package stacks_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestAttachTasks lists the tasks of a program as text and as JSON: the names are the program's
// own. (That their frames are right, TestTasks of language/python says.)
func TestAttachTasks(t *testing.T) {
	gdbtest.Later(t, "python3")
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "python3"), "../../../language/python/testdata/tasks.py")
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var told [][5]any
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatal(err)
	}
	var want, got, waits []string
	for _, x := range told {
		want = append(want, x[0].(string))
		if x[4] != nil {
			y := x[4].([]any)
			waits = append(waits, fmt.Sprintf("  waits for the %s %#x (%s)\n", y[0], uint64(y[1].(float64)), y[2]))
		}
	}
	pid := strconv.Itoa(p.PID)
	out, stderr, err := commandtest.Run("attach", pid, "--tasks", "--json")
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	commandtest.InPage(t, "sfwalk attach", out)
	var doc struct {
		Threads []any
		Tasks   []struct{ Name, Language string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for _, x := range doc.Tasks {
		got = append(got, x.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(doc.Threads) != 0 || len(want) < 8 {
		t.Errorf("tasks %q and %d threads, want %q", got, len(doc.Threads), want)
	}
	text, stderr, err := commandtest.Run("attach", pid, "--tasks")
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	for _, name := range want {
		if !strings.Contains(text, strconv.Quote(name)) {
			t.Errorf("no %q:\n%s", name, text)
		}
	}
	for _, line := range waits {
		if !strings.Contains(text, line) {
			t.Errorf("no %q:\n%s", line, text)
		}
	}
	// They are the same when the process is gone.
	saved := filepath.Join(t.TempDir(), "snapshot")
	first, stderr, err := commandtest.Run("attach", pid, "--tasks", "--save", saved)
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	p.Exit(t)
	again, stderr, err := commandtest.Run("open", saved, "--tasks")
	if err != nil || !strings.HasSuffix(again, first) || first != text {
		t.Errorf("%v %s\n%s\nsaved:\n%s", err, stderr, again, first)
	}
	if again, stderr, err = commandtest.Run("open", saved); err != nil || !strings.Contains(again, "[python]") {
		t.Errorf("%v %s\n%s", err, stderr, again)
	}
	// The process has no tasks of a run time that is not there.
	other := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"1"})
	if _, _, err := commandtest.Run("attach", strconv.Itoa(other.PID), "--tasks"); err == nil || !strings.Contains(err.Error(), "no run time of a language that has tasks") {
		t.Errorf("%v", err)
	}
}
