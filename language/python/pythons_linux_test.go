package python_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPythons has several releases of Python in a process, which call each other on one stack: all
// their frames are in their places, as each of them says.
func TestPythons(t *testing.T) {
	var arguments []string
	for _, interpreter := range pythons(t) {
		const ask = `import os, sys, sysconfig
v = sysconfig.get_config_var
if v("Py_ENABLE_SHARED") and not v("Py_GIL_DISABLED"):
    print(os.path.join(v("LIBDIR"), v("INSTSONAME")), sys.base_prefix)`
		out, err := exec.Command(interpreter, "-c", ask).Output()
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(string(out))
		if len(words) != 2 || slices.Contains(arguments, words[0]) {
			continue
		}
		if _, err := os.Stat(words[0]); err == nil {
			arguments = append(arguments, words...)
		}
	}
	if len(arguments) < 4 {
		gdbtest.Cannot(t, fmt.Sprintf("not two Pythons have libraries: %v", arguments))
	}
	program, err := os.ReadFile("testdata/inner.py")
	if err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "pythons.c", gdbtest.Plain...), append([]string{string(program)}, arguments...)...)
	p.Rest(t)
	var want []string
	for range len(arguments) / 2 {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		want = append(strings.Split(strings.TrimSpace(line), ","), want...)
	}
	for _, d := range walk(t, p.PID) {
		var got []string
		for _, f := range d.Frames() {
			got = append(got, fmt.Sprintf("%s %d", f.Function, f.Line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got:\n%s\n\nthe program says:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		waits := 0
		for _, th := range d.Said.Threads {
			waits += len(th.Waits)
		}
		if waits != 1 || len(d.Said.Warnings) > 0 {
			t.Errorf("%d locks are waited for; %q", waits, d.Said.Warnings)
		}
	}
}
