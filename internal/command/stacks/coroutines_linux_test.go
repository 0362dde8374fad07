package stacks_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestTasksOfCoroutines lists the coroutines of a process, of its snapshot and of its core file.
// (That they are right, TestCoroutines of language/async/cpp says.)
func TestTasksOfCoroutines(t *testing.T) {
	gdbtest.NeedAMD64(t)
	src, err := filepath.Abs("../../../language/async/cpp/testdata/coroutines.cpp")
	if err != nil {
		t.Fatal(err)
	}
	const ways = 64
	dir := t.TempDir()
	path := gdbtest.Compile(t, src, gdbtest.Tool(t, "g++"), "-std=c++20", "-g", "-O2", "-pthread", "-w")
	p := gdbtest.StartRunning(t, path, filepath.Join(dir, "notes"), "0", strconv.Itoa(ways))
	pid := strconv.Itoa(p.PID)
	if out, err := exec.Command(gdbtest.Tool(t, "gcore"), "-o", filepath.Join(dir, "core"), pid).CombinedOutput(); err != nil {
		t.Fatalf("gcore: %v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"attach", pid, "--tasks", "--json", "--save", filepath.Join(dir, "saved")},
		{"open", filepath.Join(dir, "saved"), "--tasks", "--json"},
		{"core", filepath.Join(dir, "core") + "." + pid, "--exe", path, "--tasks", "--json"},
	} {
		out, stderr, err := commandtest.Run(args...)
		if err != nil {
			t.Fatalf("%q: %v %s", args, err, stderr)
		}
		var doc struct {
			Tasks []struct {
				Kind   string
				Frames []struct {
					Function, File string
					Line           int
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, x := range doc.Tasks {
			if f := x.Frames[0]; x.Kind == "coroutine" && filepath.Base(f.File) == "coroutines.cpp" && f.Line > 0 {
				n++
			}
		}
		if n < ways {
			t.Errorf("%s: %d coroutines, want %d:\n%s", args[0], n, ways, fmt.Sprint(doc.Tasks))
		}
	}
}
