package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A process in a frozen control group stays frozen, and goes on when it is thawed. With version 1's
// freezer, nobody can stop it; with version 2's, one can.
func TestFrozen(t *testing.T) {
	gdbtest.NeedRoot(t)
	for _, c := range []struct {
		name, folders, control, freeze, thaw string
		err                                  error
	}{
		{"v1", "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED", ErrNotStopped},
		{"v2", "/sys/fs/cgroup/unified /sys/fs/cgroup", "cgroup.freeze", "1", "0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := ""
			for _, folder := range strings.Fields(c.folders) {
				name := filepath.Join(folder, fmt.Sprintf("sfwalk-test-%d", os.Getpid()))
				if err := os.Mkdir(name, 0o755); err == nil {
					t.Cleanup(func() {
						gdbtest.Await(t, "the empty control group is removed", func() bool { return os.Remove(name) == nil })
					})
					if _, err := os.Stat(filepath.Join(name, c.control)); err == nil {
						dir = name
						break
					}
				}
			}
			if dir == "" {
				gdbtest.Cannot(t, "no control groups with "+c.control)
			}
			write := func(file, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0); err != nil {
					t.Fatal(err)
				}
			}
			p := start(t, "undisturbed.c")
			write("cgroup.procs", strconv.Itoa(p.PID))
			write(c.control, c.freeze)
			t.Cleanup(func() { write(c.control, c.thaw) })
			cpuTime := func() string {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", p.PID))
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			frozen := func() bool {
				file, want := "cgroup.events", "frozen 1"
				if c.control == "freezer.state" {
					file, want = c.control, "FROZEN"
				}
				text, err := os.ReadFile(filepath.Join(dir, file))
				return err == nil && strings.Contains(string(text), want)
			}
			gdbtest.Await(t, "all are frozen", frozen)

			tg := attach(t, p.PID)
			threads := threadsOf(t, tg)
			if len(threads) != 51 {
				t.Errorf("%d threads, want 51", len(threads))
			}
			for _, th := range threads {
				if !errors.Is(th.Err, c.err) {
					t.Errorf("thread %d: %v, want %v", th.ID(), th.Err, c.err)
				}
			}
			t.Log(threads[0].Err, tg.Pause)
			letGo(t, p.PID)
			gdbtest.Await(t, "all are frozen again", frozen)
			before := cpuTime()
			runtime.Gosched()
			if after := cpuTime(); !frozen() || after != before {
				t.Errorf("the frozen process runs after the attach: %s, then %s", before, after)
			}
			write(c.control, c.thaw)
			if err := p.Exit(t); err != nil {
				t.Fatal(err)
			}
		})
	}
}
