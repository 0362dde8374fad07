package goroutine

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// subject is a process whose goroutines are listed.
type subject struct {
	pid    int
	stderr bytes.Buffer
	exited chan struct{}
}

// start runs a program whose goroutines come to rest. It waits until the program says that it is
// ready and its threads rest.
func start(t testing.TB, traceback string, cmd ...string) *subject {
	t.Helper()
	return startIn(t, "", nil, traceback, cmd...)
}

// startIn is start in a folder, with attributes of the process.
func startIn(t testing.TB, dir string, attr *syscall.SysProcAttr, traceback string, args ...string) *subject {
	t.Helper()
	s := &subject{exited: make(chan struct{})}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK="+traceback)
	cmd.Stderr, cmd.Dir = &s.stderr, dir
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = attr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // not StdoutPipe: Wait would close it under the reader
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	started := make(chan error)
	go func() { // Pdeathsig is sent when the thread ends that started the process
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(s.exited)
		}
	}()
	err = <-started
	w.Close()
	if errors.Is(err, syscall.EPERM) && attr.Cloneflags != 0 {
		gdbtest.Cannot(t, fmt.Sprintf("start %v: %v: it takes root", args, err))
	}
	if err != nil {
		t.Fatalf("start %v: %v", args, err)
	}
	s.pid = cmd.Process.Pid
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		<-s.exited
		r.Close()
	})
	r.SetReadDeadline(gdbtest.Deadline(t))
	if ready, err := bufio.NewReader(r).ReadString('\n'); ready != "ready\n" {
		t.Fatalf("%v says %q: %v", args, ready, err)
	}
	s.rest(t)
	return s
}

// rest waits until all threads have been blocked for a while.
func (s *subject) rest(t testing.TB) {
	t.Helper()
	p := &gdbtest.Process{PID: s.pid}
	p.Rest(t)
}

// attach takes a snapshot of the process.
func (s *subject) attach(t testing.TB) target.Target {
	t.Helper()
	tg, err := live.Attach(context.Background(), s.pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// quit makes the process write its tracebacks and end.
func (s *subject) quit(t testing.TB) map[uint64]*traceback { return s.quitBy(t, 0) }

// quitBy is quit by a signal to one thread, which then writes its own stack, too, if it runs code
// of Go.
func (s *subject) quitBy(t testing.TB, thread int) map[uint64]*traceback {
	t.Helper()
	if thread == 0 {
		if err := syscall.Kill(s.pid, syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
	} else if _, _, err := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(s.pid), uintptr(thread), uintptr(syscall.SIGQUIT)); err != 0 {
		t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(time.Until(gdbtest.Deadline(t))):
		t.Fatalf("process %d does not end", s.pid)
	}
	return readTracebacks(t, &s.stderr)
}

// openCore opens a core file.
func openCore(t testing.TB, path, exe string) target.Target {
	t.Helper()
	tg, err := core.Open(path, core.Options{Exe: exe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// emulators are the names of qemu's emulators of other processors.
var emulators = map[elf.Machine]string{elf.EM_AARCH64: "qemu-aarch64", elf.EM_S390: "qemu-s390x"}

// guest runs a program for another processor, and makes it write tracebacks and end. It opens the
// core file that qemu writes of the program.
func guest(t testing.TB, emulator, exe string, args ...string) (tg target.Target, said map[uint64]*traceback) {
	t.Helper()
	tool := gdbtest.Tool(t, emulator)
	dir := t.TempDir()
	// The emulator's own core is of no use.
	cmd := []string{"/bin/sh", "-c", `echo 0 >/proc/$$/coredump_filter; ulimit -c unlimited; ulimit -s 4096; exec "$@"`, "sh", tool, exe}
	s := startIn(t, dir, nil, "crash", append(cmd, args...)...)
	said = s.quit(t)
	cores, _ := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if len(cores) != 1 {
		left, _ := os.ReadDir(dir)
		t.Fatalf("qemu has left %d core files: %v", len(cores), left)
	}
	return openCore(t, cores[0], exe), said
}
