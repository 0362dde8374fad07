//go:build linux

package gdbtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is a running target program. It ends with the test that started
// it, and with the test binary, however that ends.
type Process struct {
	PID    int
	Stdin  io.WriteCloser // closing it ends the program
	Stdout *bufio.Reader  // what follows the line "ready"
	exited <-chan struct{}
	exit   error // how it ended, once exited is closed
}

// Start runs the program at path, waits until it has printed "ready" and then
// until every thread of it is blocked in the kernel. From then on it stands
// still: all debuggers see the same stacks.
func Start(t testing.TB, path string, args ...string) *Process {
	t.Helper()
	p := StartRunning(t, path, args...)
	p.Rest(t)
	return p
}

// Rest waits until every thread is blocked in the kernel, at several looks in a row.
func (p *Process) Rest(t testing.TB) {
	t.Helper()
	still := 0
	Await(t, fmt.Sprintf("process %d comes to rest", p.PID), func() bool {
		if still++; strings.Trim(p.States(t), "S") != "" {
			still = 0
		}
		return still == 5
	})
}

// Runs waits until the first thread has run for a further amount of CPU time.
func (p *Process) Runs(t testing.TB, more time.Duration) {
	t.Helper()
	took := func() (d time.Duration) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", p.PID)) // nanoseconds
		if _, scan := fmt.Sscan(string(text), &d); err != nil || scan != nil {
			t.Fatalf("%q: %v, %v", text, err, scan)
		}
		return d
	}
	before := took()
	Await(t, fmt.Sprintf("process %d runs for %v", p.PID, more), func() bool { return took() >= before+more })
}

// Ran returns how long all threads of a process that there are have run together.
func Ran(t testing.TB, pid int) (sum time.Duration) {
	t.Helper()
	for _, file := range Glob(t, fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) {
		var d time.Duration // nanoseconds
		if text, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		} else if _, err := fmt.Sscan(string(text), &d); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		sum += d
	}
	return sum
}

// StartRunning is Start for a program with threads that never rest: it waits
// for "ready" alone. Stop makes such a process stand still.
func StartRunning(t testing.TB, path string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe: Wait would close it under a reader.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	started, exited := make(chan error), make(chan struct{})
	p := &Process{Stdin: stdin, Stdout: bufio.NewReader(r), exited: exited}
	// The parent's death signal comes when the thread that started the process
	// ends, and a test of ptrace may end threads: this one has nothing else to do.
	// The kernel lets a stopped process go on when its group loses its shell, as
	// happens to tests that run in the background: this one has its own group.
	go func() {
		runtime.LockOSThread()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		started <- err
		if err == nil {
			awaitExit(cmd.Process.Pid)
			p.exit = cmd.Wait()
			close(exited)
		}
	}()
	err = <-started
	w.Close()
	if err != nil {
		r.Close()
		t.Fatal(err)
	}
	p.PID = cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Kill() // ends a stopped process, too
		<-exited
		r.Close()
	})

	r.SetReadDeadline(Deadline(t))
	line, err := p.Stdout.ReadString('\n')
	if err != nil || line != "ready\n" {
		cmd.Process.Kill()
		<-exited
		t.Fatalf("%s %q: got %q (%v) instead of \"ready\"; it ended with: %v %s",
			path, args, line, err, cmd.ProcessState, strings.TrimSpace(stderr.String()))
	}
	r.SetReadDeadline(time.Time{})
	return p
}

// awaitExit blocks until the process has ended. Waiting for it by wait(2) would
// take the stops of a tracer, which a test may be, for its end.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}

// Stop sends SIGSTOP and waits until every thread has stopped.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGSTOP, func(states string) bool { return strings.Trim(states, "T") == "" })
}

// Continue sends SIGCONT and waits until no thread is stopped any more.
func (p *Process) Continue(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGCONT, func(states string) bool { return !strings.Contains(states, "T") })
}

func (p *Process) signal(t testing.TB, sig syscall.Signal, reached func(states string) bool) {
	t.Helper()
	if err := syscall.Kill(p.PID, sig); err != nil {
		t.Fatalf("kill %d with %v: %v", p.PID, sig, err)
	}
	Await(t, fmt.Sprintf("process %d is in another state after %v", p.PID, sig), func() bool { return reached(p.States(t)) })
}

// States returns the state letter of each thread as /proc/PID/stat has it
// (R running, S sleeping, T stopped, t traced, Z zombie, ...).
func (p *Process) States(t testing.TB) string {
	t.Helper()
	states, err := p.states()
	if err != nil {
		t.Fatal(err)
	}
	return states
}

func (p *Process) states() (string, error) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil {
		return "", err
	}
	var states []byte
	for _, task := range tasks {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "task", task.Name(), "stat"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended meanwhile
		}
		if err != nil {
			return "", err
		}
		// "PID (NAME) STATE ...", and NAME may hold anything.
		end := bytes.LastIndex(stat, []byte(") "))
		if end < 0 || end+2 >= len(stat) {
			return "", fmt.Errorf("stat of thread %s: no state in %q", task.Name(), stat)
		}
		states = append(states, stat[end+2])
	}
	if len(states) == 0 {
		return "", fmt.Errorf("process %d has no threads", p.PID)
	}
	return string(states), nil
}

// Exit closes the program's standard input and returns how it ended: nil for
// exit code 0. A test calls it last, to see that nothing has disturbed the
// process.
func (p *Process) Exit(t testing.TB) error {
	t.Helper()
	p.Stdin.Close()
	return p.ended(t, "its standard input")
}

// Dies has a signal kill the process, and waits until it has: its core file is whole then. What the
// process can see of its end, such as the end of its standard input, comes later.
func (p *Process) Dies(t testing.TB, sig syscall.Signal) {
	t.Helper()
	for _, sig := range []syscall.Signal{sig, syscall.SIGCONT} { // it may be stopped
		if err := syscall.Kill(p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	if err := p.ended(t, sig.String()); err == nil {
		t.Fatalf("process %d was not killed: it has ended by itself", p.PID)
	}
}

func (p *Process) ended(t testing.TB, with string) error {
	t.Helper()
	select {
	case <-p.exited:
		return p.exit
	case <-time.After(time.Until(Deadline(t))):
		t.Fatalf("process %d does not end with %s", p.PID, with)
		return nil
	}
}
