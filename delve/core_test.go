//go:build linux && (amd64 || arm64)

package delve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// A core has the stacks of the process that it was written from.
func TestCores(t *testing.T) {
	exe := delvetest.Cgo(t, "-buildmode=pie")
	p := gdbtest.StartRunning(t, exe, "main")
	dir := t.TempDir()
	gdbs := filepath.Join(dir, "gdb")
	if out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(p.PID), "-ex", "generate-core-file "+gdbs).CombinedOutput(); err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	pt := delvetest.Attach(t, p.PID).Selected
	own := dump(t, pt, filepath.Join(dir, "delve"), 0)
	any := dump(t, pt, filepath.Join(dir, "any"), proc.DumpPlatformIndependent)
	for _, c := range []struct{ name, path string }{{"gdb", gdbs}, {"Delve", own}, {"Delve for any platform", any}} {
		t.Run(c.name, func(t *testing.T) {
			pt := delvetest.Open(t, c.path, exe).Selected
			checkMixed(t, pt, exe, false)
			checkVDSO(t, pt, p.PID)
		})
	}
}

// dump has Delve write a core file.
func dump(t *testing.T, pt *proc.Target, path string, flags proc.DumpFlags) string {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var state proc.DumpState
	if pt.Dump(out, flags, &state); state.Err != nil {
		t.Fatalf("Delve's core: %v", state.Err)
	}
	return path
}

// checkVDSO checks that the kernel's library is where the process has it.
func checkVDSO(t *testing.T, pt *proc.Target, pid int) {
	t.Helper()
	maps, err := procmaps.Parse(readFile(t, filepath.Join("/proc", strconv.Itoa(pid), "maps")))
	if err != nil {
		t.Fatal(err)
	}
	modules := open(t, pt).Modules()
	for i := range maps {
		if m := &maps[i]; m.IsVDSO() {
			found := modules.Find(m.Lo)
			if found == nil || found.Path != m.Path || found.Lo() != m.Lo {
				t.Errorf("at %#x there is %+v", m.Lo, found)
				return
			}
			if im, bias, err := found.Image(); err != nil || bias != m.Lo || len(im.Lookup("clock_gettime", 1)) == 0 {
				t.Errorf("[vdso]: bias %#x, want %#x; %v", bias, m.Lo, err)
			}
		}
	}
}
