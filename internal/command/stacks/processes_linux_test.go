package stacks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestProcesses attaches to several processes, of which one does not exist.
func TestProcesses(t *testing.T) {
	a, b := commandtest.StartDemo(t), commandtest.StartDemo(t)
	out, stderr, err := commandtest.Run("attach", strconv.Itoa(a.PID), "2147483647", strconv.Itoa(b.PID), strconv.Itoa(a.PID))
	if err == nil || !strings.Contains(stderr, "2147483647") {
		t.Errorf("error %v, standard error %q", err, stderr)
	}
	for _, p := range []int{a.PID, b.PID} {
		if n := strings.Count(out, fmt.Sprintf("Process %d\nThread %[1]d ", p)); n != 1 {
			t.Errorf("process %d is printed %d times", p, n)
		}
	}
	out, _, err = commandtest.Run("attach", strconv.Itoa(a.PID), strconv.Itoa(b.PID), "--json")
	if err != nil || strings.Count(out, "\n") != 2 {
		t.Errorf("error %v, %d documents", err, strings.Count(out, "\n"))
	}
	if _, _, err := commandtest.Run("attach", strconv.Itoa(a.PID), strconv.Itoa(b.PID), "--save", "x"); !isUsage(err) {
		t.Errorf("--save of two: error %v, want a usage error", err)
	}
	if _, _, err := commandtest.Run("attach"); !isUsage(err) {
		t.Errorf("no process: error %v, want a usage error", err)
	}
}

// TestChosen compares which processes the flags name with pgrep's and ps's answers.
func TestChosen(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "o (dd) name")
	if err := os.Symlink(gdbtest.Tool(t, "sleep"), exe); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(gdbtest.Tool(t, "sh"), "-c", `"$0" 100 & "$0" 100 & wait`, exe)
	in, _ := parent.StdinPipe()
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var children []int
	gdbtest.Await(t, "both children", func() bool {
		out, _ := exec.Command(gdbtest.Tool(t, "pgrep"), "-x", "-P", strconv.Itoa(parent.Process.Pid), `o \(dd\) name`).Output()
		children = nil
		for _, x := range strings.Fields(string(out)) {
			pid, _ := strconv.Atoi(x)
			children = append(children, pid)
		}
		return len(children) == 2
	})
	defer func() {
		for _, pid := range children {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		parent.Wait()
	}()
	slices.Sort(children)
	got, err := (&stacks.Chosen{Names: []string{"o (dd) name"}}).Pids(nil, nil)
	if err != nil || !slices.Equal(got, children) {
		t.Errorf("--name: %v, error %v, want %v", got, err, children)
	}
	want := append([]int{parent.Process.Pid}, children...)
	slices.Sort(want)
	if got, err := (&stacks.Chosen{Children: []int{parent.Process.Pid}}).Pids(nil, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("--children: %v, error %v, want %v", got, err, want)
	}
	all, err := (&stacks.Chosen{All: true}).Pids(nil, nil)
	for _, pid := range want {
		if !slices.Contains(all, pid) {
			t.Errorf("--all: no %d in %v", pid, all)
		}
	}
	if err != nil || slices.Contains(all, os.Getpid()) {
		t.Errorf("--all: error %v, or this process is among %v", err, all)
	}
	if _, err := (&stacks.Chosen{Names: []string{"no such name"}}).Pids(nil, nil); err == nil {
		t.Error("--name of no process: no error")
	}
}
