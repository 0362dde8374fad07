package commandtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Bounded runs sfwalk on hostile input, and checks the promised bounds: 256 MB of memory and 10 s
// of CPU time. It returns the output, and the warnings and errors.
func Bounded(t *testing.T, args ...string) (out, warnings string) {
	t.Helper()
	return Within(t, 256<<10, args...)
}

// Within is Bounded with another bound on memory, in KiB.
func Within(t *testing.T, most int64, args ...string) (out, warnings string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "sfwalk")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(link, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The kernel counts the most memory of a new process from its parent's, until it executes
	// another program.
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	hangs := time.AfterFunc(time.Until(gdbtest.Deadline(t)), func() { syscall.Kill(pid, syscall.SIGKILL) })
	defer hangs.Stop()
	cmd.Wait()
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.Logf("%v: %d MB, %v", args, u.Maxrss>>10, cpu)
	if int64(u.Maxrss) > most || cpu > 10*time.Second {
		t.Errorf("%v: %d MB of memory, %v of CPU time", args, u.Maxrss>>10, cpu)
	}
	return stdout.String(), stderr.String()
}
