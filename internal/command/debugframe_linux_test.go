//go:build amd64

package command

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// A program without .eh_frame, of which the debug information, .debug_frame with it, is in
// a file of its own.
func TestSeparateDebugFrame(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-g", "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--only-keep-debug", program, "chain.debug"},
		{"--strip-all", "--add-gnu-debuglink=chain.debug", program, "chain"},
	} {
		cmd := exec.Command(gdbtest.Tool(t, "objcopy"), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	p := gdbtest.Start(t, filepath.Join(dir, "chain"))
	got := take(t, p.PID, &walkFlags{tableFlags: tableFlags{sniffers: []string{"dwarf"}}})
	compare(t, got, gdbtest.Backtrace(t, p.PID))
}
