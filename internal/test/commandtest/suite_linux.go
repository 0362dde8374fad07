package commandtest

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// SuiteSources gets the sources of this release's gdb, with its suite, into the folder gdb of dir.
func SuiteSources(t *testing.T, dir string) {
	t.Helper()
	src := gdbtest.Testdata(t, "..", "internal", "command", "stacks", "testdata", "programs")
	InstallPackages(t, "dpkg-dev dejagnu gcc g++")
	InFolder(t, dir, fmt.Sprintf("sh -e %s/source.sh gdb", src))
}

// InFolder runs a shell's script in the folder dir.
func InFolder(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gdb's test suite: %v\n%s", err, out)
	}
}
