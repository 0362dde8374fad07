package record_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A process in namespaces of its own has its names in files of its own, by the number that it has
// itself: its perf map and its jitdump. While it lives, they are found. When it has ended, the
// files of another process that has its number now are not.
func TestLivingInNamespace(t *testing.T) {
	gdbtest.Perf(t)
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root makes namespaces of PIDs")
	}
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the program makes code of amd64")
	}
	unshare, exe, dir := gdbtest.Tool(t, "unshare"), gdbtest.Build(t, "mapped.c", "-O1", "-fno-omit-frame-pointer"), t.TempDir()
	for _, v := range []struct {
		name  string
		flags []string
		setup string // in the namespaces, before the program runs
		kind  string
	}{
		{"perf map", nil, "", "map"},
		{"perf map in a mount", []string{"--mount"}, "mount -t tmpfs none /tmp && ", "map"},
		{"jitdump in a mount", []string{"--mount"}, fmt.Sprintf("mount -t tmpfs none %s && ", dir), "dump"},
	} {
		t.Run(v.name, func(t *testing.T) {
			command := fmt.Sprintf("%sexec %s %s %s", v.setup, exe, v.kind, dir)
			p := gdbtest.StartRunning(t, unshare, append(append([]string{"--pid", "--fork", "--kill-child"}, v.flags...), "sh", "-c", command)...)
			children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
			child := strings.TrimSpace(string(children))
			if err != nil || child == "" {
				t.Fatalf("%q, %v", children, err)
			}
			t.Cleanup(func() { os.Remove("/tmp/perf-1.map") })
			file := perfRecord(t, "-k", "mono", "-e", "cpu-clock:u", "-F", "299", "-g", "-p", child, "--", "sleep", "0.8")
			named := func() (n, all int64) {
				_, stacks := fileOf(t, file)
				for _, s := range stacks.Samples {
					all += s.Values[0]
					if stacks.Places[s.Frames[0]].Function == "made_code" {
						n += s.Values[0]
					}
				}
				return n, all
			}
			if n, all := named(); n < all/2 || n < 3 {
				t.Errorf("of %d samples, %d have the name", all, n)
			}
			syscall.Kill(p.PID, syscall.SIGKILL)
			p.Exit(t)
			if n, all := named(); n > 0 || all < 3 {
				t.Errorf("when it has ended, of %d samples, %d have the name", all, n)
			}
		})
	}
}
