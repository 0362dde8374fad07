package gdbtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Perf returns the path of Linux's perf, which may record here. Where it is not installed, that is
// Missing on Debian; on Ubuntu, perf is in a package for each kernel.
func Perf(t testing.TB) string {
	t.Helper()
	Later(t, "perf")
	path, err := exec.LookPath("perf")
	if err != nil {
		if text, _ := os.ReadFile("/etc/os-release"); !bytes.Contains(text, []byte("\nID=debian\n")) {
			Cannot(t, "perf is not installed, and its package belongs to the kernel that runs")
		}
		Missing(t, "perf is not installed (apt-get install linux-perf)")
	}
	if out, err := exec.Command(path, "record", "-q", "-e", "cpu-clock", "-o", filepath.Join(t.TempDir(), "perf.data"), "true").CombinedOutput(); err != nil {
		Cannot(t, "perf may not record: "+err.Error()+": "+string(out))
	}
	return path
}
