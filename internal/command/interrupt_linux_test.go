package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// blocked starts sfwalk with a pipe that nobody reads for its output, and waits until that is full.
func blocked(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "sfwalk")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { cmd.Process.Kill() })
	gdbtest.Await(t, "it waits for a reader", func() bool {
		return slices.ContainsFunc(gdbtest.Glob(t, fmt.Sprintf("/proc/%d/task/*/syscall", cmd.Process.Pid)), func(file string) bool {
			call, _ := os.ReadFile(file)
			return strings.HasPrefix(string(call), fmt.Sprintf("%d 0x1 ", unix.SYS_WRITE))
		})
	})
	return cmd
}

// endedBy reports whether the signal has ended the process, which was waited for.
func endedBy(cmd *exec.Cmd, sig syscall.Signal) bool {
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status.Signaled() && status.Signal() == sig
}

// A signal ends a command that only reads files, whatever it is at.
func TestFilesInterrupted(t *testing.T) {
	program, made := gdbtest.Tool(t, "objdump"), filepath.Join(t.TempDir(), "made.sframe")
	if _, _, err := commandtest.Run("sframe", "gen", program, "-o", made); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"symbols", "dump", program}, {"sframe", "dump", made}} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			cmd := blocked(t, args...)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if !endedBy(cmd, sig) {
				t.Errorf("%v: %v does not end it: %v", args, sig, cmd.ProcessState)
			}
		}
	}
}

// A further signal ends a command that has something to tidy up, and its target goes on.
func TestInterruptedTwice(t *testing.T) {
	p := gdbtest.Start(t, "/bin/sh", "-c", "echo ready; exec sleep 1000")
	cmd := blocked(t, "attach", strconv.Itoa(p.PID), "--every", "10ms")
	over := make(chan struct{})
	go func() {
		defer close(over)
		cmd.Wait()
	}()
	gdbtest.Await(t, "a signal ends it", func() bool {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	if !endedBy(cmd, syscall.SIGTERM) {
		t.Errorf("%v", cmd.ProcessState)
	}
	p.Rest(t)
}
