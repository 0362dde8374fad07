package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// python returns a Python that writes perf maps: 3.12 or later, which Debian 12 has not got.
func python(t *testing.T) string {
	t.Helper()
	gdbtest.Later(t, "python3")
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		// The program may be a script that starts the interpreter.
		out, err := exec.Command(path, "-c", "import sys; sys.activate_stack_trampoline('perf'); print(sys.executable)").Output()
		if err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	gdbtest.Cannot(t, "it has no Python with -X perf (3.12 or later)")
	return ""
}

// Python calls each of its functions through a small piece of code of its own, which sets
// up no frame record.
func TestPython(t *testing.T) {
	gdbtest.NeedAMD64(t)
	script := filepath.Join(source, "testdata", "stack.py")
	p := gdbtest.Start(t, python(t), "-X", "perf", script)
	t.Cleanup(func() { os.Remove(fmt.Sprintf("/tmp/perf-%d.map", p.PID)) })
	told, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	list, stop := walk(t, p.PID, start(t, nil))
	var names []string
	for _, f := range list {
		if f.by != "perfmap" {
			continue
		}
		if f.symbol.File != script || f.inFile || f.frame.Row().Flags&trad.Guess != 0 {
			t.Errorf("%v; it is of %s", f, script)
		}
		names = append(names, strings.TrimPrefix(f.symbol.Function, "py::"))
	}
	if got := strings.Join(names, " "); got != strings.TrimSpace(told) || stop != frame.Outermost {
		t.Errorf("Python's functions are %q, Python itself says %q; the stack ends: %v", got, told, stop)
	}
	compare(t, list, gdbtest.Backtrace(t, p.PID, gdbtest.WithLimit(5))[0].Frames)
	// The outer frames' registers are found through Python's code.
	for _, f := range list {
		if f.name == "Py_RunMain" {
			for _, r := range []trad.Reg{3, 6, 12, 13, 14, 15} {
				if v := f.frame.Register(r); !v.Known() {
					t.Errorf("Py_RunMain's register %d is %v", r, v)
				}
			}
		}
	}
}
