package valuetest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// BuildExpressions builds the program of C whose values --print shows.
func BuildExpressions(t *testing.T, flags ...string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	dir := gdbtest.Testdata(t, "progs", "expressions")
	program := filepath.Join(t.TempDir(), "expressions")
	args := append([]string{"-g", "-O0", "-w", "-o", program, filepath.Join(dir, "expressions.c"), filepath.Join(dir, "elsewhere.c")}, flags...)
	if out, err := exec.Command(gdbtest.Tool(t, "gcc"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// NeedCompiler ends a test without a compiler that only the long tests install.
func NeedCompiler(t *testing.T, tool string) string {
	gdbtest.NeedAMD64(t)
	if _, err := exec.LookPath(tool); err != nil {
		gdbtest.NeedSoak(t)
	}
	return gdbtest.Tool(t, tool)
}
