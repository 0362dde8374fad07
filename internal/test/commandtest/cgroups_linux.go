package commandtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// InCgroup puts a process into a new control group of this name. The test ends the process and
// removes the group at its end.
func InCgroup(t *testing.T, p *gdbtest.Process, name string) string {
	t.Helper()
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/systemd"} {
		group := filepath.Join(dir, name)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			syscall.Kill(p.PID, syscall.SIGKILL) // it is a child that nobody has waited for
			gdbtest.Await(t, "the process ends", func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID)); return err != nil })
			for range 1000 { // the kernel empties the group a moment later
				if os.Remove(group) == nil {
					break
				}
			}
		})
		// Where several hierarchies are mounted, the folder above them is none of them.
		procs, err := os.OpenFile(filepath.Join(group, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = procs.WriteString(strconv.Itoa(p.PID))
		if procs.Close(); err == nil {
			return name
		}
	}
	gdbtest.Cannot(t, "no control group can be made here")
	return ""
}
