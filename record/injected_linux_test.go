package record_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// perf inject --jit writes a file for each function that a jitdump tells of, and has the samples be
// of these files. No stack gets shorter by that. The program knows that five functions have called
// the innermost one, and its libc three more.
func TestInjected(t *testing.T) {
	perf := gdbtest.Perf(t)
	dir := t.TempDir()
	for _, v := range []struct{ name, program, arg string }{
		{"ways of frames", gdbtest.Build(t, "injected.c", "-O2"), "10"},
		{"replaced", gdbtest.Build(t, "replaced.c", "-O2", "-fomit-frame-pointer"), "20"},
	} {
		t.Run(v.name, func(t *testing.T) {
			args := []string{v.program, dir, v.arg}
			if v.name == "replaced" {
				args = []string{v.program, "dump", dir, v.arg}
			}
			file := perfRecord(t, append([]string{"-k", "mono", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf,8192"}, args...)...)
			injected := filepath.Join(t.TempDir(), "injected.data")
			cmd := exec.Command(perf, "inject", "--jit", "-i", file, "-o", injected)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("perf inject: %v\n%s", err, out)
			}
			before, _, _ := walked(t, open(t, file), true)
			after, _, _ := walked(t, open(t, injected), true)
			inFiles, whole := 0, 0
			for at, want := range before {
				got, ok := after[at]
				if !ok {
					t.Errorf("%v: no such sample in the other file", at)
				}
				if len(got) < len(want) {
					t.Errorf("%v: %q, before %q", at, got, want)
				}
				if slices.ContainsFunc(got, func(x string) bool { return strings.Contains(x, " jitted-") }) {
					inFiles++
				}
				if slices.ContainsFunc(got, func(x string) bool { return strings.HasSuffix(x, " "+filepath.Base(v.program)) }) {
					whole++
				}
			}
			if inFiles < 20 || whole < len(before)*9/10 {
				t.Errorf("%d of %d samples are in files of perf inject, %d stacks come to the program", inFiles, len(before), whole)
			}
		})
	}
}
