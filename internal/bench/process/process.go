//go:build linux

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/bench/child"
)

// A Process is a running program.
type Process struct {
	PID   int
	Ticks *Ticks // nil without

	cmd *exec.Cmd
}

// startLimit bounds how long a program may take until it is ready.
const startLimit = time.Minute

// Start runs a program that writes a line when it is ready, with the name of the
// ticks' file, if there is one, as its last argument. Stop ends the process.
func Start(ticks *Ticks, program string, args ...string) (*Process, error) {
	if ticks != nil {
		args = append(args, ticks.file.Name())
	}
	p := &Process{Ticks: ticks, cmd: exec.Command(program, args...)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(p.cmd); err != nil {
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	ready := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(out).ReadString('\n')
		ready <- err
		io.Copy(io.Discard, out)
	}()
	select {
	case err = <-ready:
	case <-time.After(startLimit):
		err = errors.New("not ready in a minute")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), p.Stop())
	}
	time.Sleep(50 * time.Millisecond) // the line is written before the thread waits
	return p, nil
}

// Stop kills the process, and waits for its end.
func (p *Process) Stop() error {
	err := p.cmd.Process.Kill()
	p.Wait() // says that it was killed
	return err
}

// Wait waits for the end of a process that somebody has ended.
func (p *Process) Wait() error { return p.cmd.Wait() }

// Spent returns the processor time that the threads of a process have taken. Threads that have
// ended are not counted.
func Spent(pid int) (spent time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("process %d: the kernel tells no times of threads: %w", pid, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // it has just ended
		}
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		spent += time.Duration(ns)
	}
	return spent, nil
}
