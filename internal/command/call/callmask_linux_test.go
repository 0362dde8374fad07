package call

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// statusOf returns what the kernel says of a process's first thread (proc_pid_status(5)).
func statusOf(t *testing.T, pid int, field string) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, pid))
	m := regexp.MustCompile(`\n` + field + `:\t(\w+)\n`).FindStringSubmatch(string(status))
	if err != nil || m == nil {
		t.Fatalf("%v: %s", err, status)
	}
	return m[1]
}

func blockedSignals(t *testing.T, pid int) string { return statusOf(t, pid, "SigBlk") }

// A call that is given up leaves no signals blocked that the function has blocked. What a function
// that returns has blocked stays blocked, as with gdb.
func TestCallBlocksSignals(t *testing.T) {
	gdbtest.NeedAMD64(t)
	const none, both = "0000000000000000", "0000000008000800" // SIGWINCH is 28, SIGUSR2 12
	program := gdbtest.Build(t, "calling.c", "-g", "-O1", "-pthread")
	p := gdbtest.Start(t, program)
	pid := strconv.Itoa(p.PID)
	if at := blockedSignals(t, p.PID); at != none {
		t.Fatalf("the program blocks %s", at)
	}
	for _, c := range []struct{ call, err string }{{"blocks(1)", "ended by SIGSEGV (address 0x8)"}, {"getpid() + blocks(1)", "ended by SIGSEGV"}} {
		if _, _, err := commandtest.Execute(New(nil), pid, c.call); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.call, err)
		}
		if at := blockedSignals(t, p.PID); at != none {
			t.Errorf("behind %s, signals %s are blocked", c.call, at)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		sfwalk := filepath.Join(t.TempDir(), "sfwalk")
		if err := os.Symlink(self, sfwalk); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(sfwalk, "call", pid, "blocks(2)")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gdbtest.Await(t, "the function is in pause(2)", func() bool {
			call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.PID))
			return err == nil && strings.HasPrefix(string(call), "34 ") && blockedSignals(t, p.PID) == both
		})
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("%v: no error", sig)
		}
		gdbtest.Await(t, "the process is in read(2) again", func() bool {
			call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.PID))
			return err == nil && strings.HasPrefix(string(call), "0 ") && statusOf(t, p.PID, "TracerPid") == "0"
		})
		if at := blockedSignals(t, p.PID); at != none {
			t.Errorf("behind a call that %v has ended, signals %s are blocked", sig, at)
		}
	}
	if stdout, _, err := commandtest.Execute(New(nil), pid, "blocks(3)"); err != nil || stdout != "3\n" {
		t.Errorf("%s, %v", stdout, err)
	}
	if why := gdbtest.CannotWrite(t, "gdb"); why != "" {
		gdbtest.NoOracle(t, 1, 1, why, "the mask that the program sets")
		if ours := blockedSignals(t, p.PID); ours != both {
			t.Errorf("behind a function that has returned, signals %s are blocked, want %s", ours, both)
		}
		return
	}
	other := gdbtest.Start(t, program)
	script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), evaluatePy, map[string]any{"expressions": []string{"blocks(3)"}, "names": map[string]string{}}, "-p", strconv.Itoa(other.PID))
	script.Next(t)
	if ours, gdbs := blockedSignals(t, p.PID), blockedSignals(t, other.PID); ours != gdbs || ours != both {
		t.Errorf("behind a function that has returned, signals %s are blocked, with gdb %s", ours, gdbs)
	}
}
