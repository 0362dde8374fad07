package profile

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// startedCommand is a command that runs as a child.
type startedCommand struct {
	cmd     *exec.Cmd
	pid     int
	stopped bool
	orders  chan func() // for the thread that traces the child
}

// startStopped starts a command, which stops before its first instruction.
func startStopped(command []string) (*startedCommand, error) {
	s := &startedCommand{cmd: exec.Command(command[0], command[1:]...), orders: make(chan func())}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // ptrace knows tracers by their thread
		err := s.cmd.Start()
		if err == nil {
			var status syscall.WaitStatus
			if _, err = syscall.Wait4(s.cmd.Process.Pid, &status, 0, nil); err == nil && !status.Stopped() {
				err = errors.New("the command has ended before it began")
			}
		}
		started <- err
		for order := range s.orders {
			order()
		}
	}()
	if err := <-started; err != nil {
		close(s.orders)
		return nil, err
	}
	s.pid, s.stopped = s.cmd.Process.Pid, true
	return s, nil
}

// letGo has the command run.
func (s *startedCommand) letGo() {
	if !s.stopped {
		return
	}
	s.stopped = false
	done := make(chan struct{})
	s.orders <- func() {
		syscall.PtraceDetach(s.pid)
		close(done)
	}
	<-done
	close(s.orders)
}

// discard ends the command if it was not let go: it has done nothing yet.
func (s *startedCommand) discard() {
	if s.stopped {
		s.cmd.Process.Kill()
		s.letGo()
		s.cmd.Wait()
	}
}

// wait waits for the end of the command. Its exit code becomes sfwalk's.
func (s *startedCommand) wait() error {
	err := s.cmd.Wait()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exit.Status{Code: 128 + int(status.Signal())}
	}
	return exit.Status{Code: ended.ExitCode()}
}
