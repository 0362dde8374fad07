package gdbtest

import (
	"os/exec"
	"testing"
)

// Batch returns what gdb says to commands, one after the other, about files: a program, or a
// program and its core. Where a command's error ends gdb with a status, the test fails.
func Batch(t testing.TB, files []string, commands ...string) string {
	t.Helper()
	args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off"}
	for _, c := range commands {
		args = append(args, "-ex", c)
	}
	out, err := exec.Command(Tool(t, "gdb"), append(args, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	return string(out)
}
