//go:build linux && (amd64 || arm64)

package delvetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/core"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Guest lets delvego run and die under qemu's emulation of arm64, and opens the core file that qemu
// writes.
func Guest(t testing.TB, flags ...string) (grp *proc.TargetGroup, exe string) {
	t.Helper()
	exe = Go(t, "arm64", flags...)
	dir := t.TempDir()
	// The emulator's own core is of no use.
	cmd := exec.Command("/bin/sh", "-c", `echo 0 >/proc/$$/coredump_filter; ulimit -c unlimited; ulimit -s 4096; exec "$@"`, "sh", gdbtest.Tool(t, "qemu-aarch64"), exe, "die")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("%s lives on: %s", exe, out)
	}
	cores, _ := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if len(cores) != 1 {
		left, _ := os.ReadDir(dir)
		t.Fatalf("qemu has left %d core files: %v", len(cores), left)
	}
	return Open(t, cores[0], exe), exe
}

// Open has Delve open a core file.
func Open(t testing.TB, name, exe string) *proc.TargetGroup {
	t.Helper()
	Quiet(t)
	grp, err := core.OpenCore(name, exe, nil)
	if err != nil {
		t.Fatalf("Delve opens %s: %v", name, err)
	}
	return grp
}
