package demo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// ptraceSeize is PTRACE_SEIZE (linux/ptrace.h).
const ptraceSeize = 0x4206

// startLimit bounds how long the program may take until it is ready.
const startLimit = 10 * time.Second

// A Process is the running demo target.
type Process struct {
	PID int // of the process, which is a child of this one

	dir    string // holds the program's file, until Stop
	cmd    *exec.Cmd
	kill   chan struct{} // closed to end the process; nil if it does not run
	exited chan struct{} // closed when it has ended
}

// Start runs the demo target and returns when all its threads are where target/demo.c says. It runs
// until Stop, until the calling process ends, however that happens, or for ten minutes. The program
// is written to a new folder under os.TempDir, so programs must be allowed to run from there.
func Start() (*Process, error) {
	if program == nil {
		return nil, platformError()
	}
	if emulated() {
		return nil, fmt.Errorf("start the demo target: %w", ErrEmulated)
	}
	dir, err := os.MkdirTemp("", "sfwalk-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the demo target: %w", err)
	}
	p := &Process{dir: dir}
	if err := p.start(filepath.Join(dir, "demo")); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// emulated reports whether the kernel does not know ptrace: it is qemu's user
// emulation, which does not run programs for its own machine either. No process
// has the ID -1.
func emulated() bool {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceSeize, ^uintptr(0), 0, 0, 0, 0)
	return e == syscall.ENOSYS
}

func (p *Process) start(path string) error {
	if err := os.WriteFile(path, program, 0o700); err != nil {
		return fmt.Errorf("write the demo target: %w", err)
	}
	stdout, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the demo target: %w", err)
	}
	defer stdout.Close()
	var stderr bytes.Buffer
	// A process that another goroutine forks at this moment can hold the file
	// open for writing until it executes its own program.
	for try := 0; try < 20; try++ {
		p.cmd = exec.Command(path)
		p.cmd.Stdout, p.cmd.Stderr = w, &stderr
		if err = p.run(); !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.Close()
	if errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("start the demo target: %w (are programs allowed to run in %s? Set TMPDIR to another folder)",
			err, os.TempDir())
	}
	if err != nil {
		return fmt.Errorf("start the demo target: %w", err)
	}
	p.PID = p.cmd.Process.Pid

	if err := stdout.SetReadDeadline(time.Now().Add(startLimit)); err != nil {
		return fmt.Errorf("start the demo target: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "ready\n" {
		p.end() // stderr is complete then
		return fmt.Errorf("the demo target wrote %q instead of \"ready\" and ended with: %v %s (it needs glibc 2.34 or later)",
			line, p.cmd.ProcessState, strings.TrimSpace(stderr.String()))
	}
	p.awaitRest()
	return nil
}

// awaitRest waits until the main thread, which said "ready", is back in the
// kernel. Without /proc it returns at once: the stacks are right anyway, one
// of them is less interesting.
func (p *Process) awaitRest() {
	for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
		if err != nil || bytes.Contains(stat, []byte("(demo) S ")) {
			return
		}
	}
}

// run starts the command. The child gets its parent's death signal when the thread that started it
// ends, so a thread of its own does that and stays. It waits for the child only when that was
// killed. An earlier wait would take the stops of the child's threads from a debugger in this
// process, and take the first of them for the end.
func (p *Process) run() error {
	started, kill, exited := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := p.cmd.Start()
		started <- err
		if err == nil {
			<-kill
			p.cmd.Process.Kill()
			p.cmd.Wait()
			close(exited)
		}
	}()
	err := <-started
	if err == nil {
		p.kill, p.exited = kill, exited
	}
	return err
}

// end kills the process and waits for its end.
func (p *Process) end() {
	if p.kill != nil {
		close(p.kill)
		<-p.exited
		p.kill = nil
	}
}

// Stop ends the process and removes its file.
func (p *Process) Stop() error {
	p.end()
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove the demo target: %w", err)
	}
	return nil
}
