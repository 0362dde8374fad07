//go:build linux

package gdbtest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Separate returns a stripped copy of a program, whose debug information is in a file of its own
// beside it, which the copy's .gnu_debuglink names.
func Separate(t testing.TB, program string) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--only-keep-debug", program, "copy.debug"},
		{"--strip-all", "--add-gnu-debuglink=copy.debug", program, "copy"},
	} {
		cmd := exec.Command(Tool(t, "objcopy"), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return filepath.Join(dir, "copy")
}
