package dependent

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// starter starts processes for everybody. The kernel ends them with the thread that has
// started them (PR_SET_PDEATHSIG), so that it must be one that lives as long as the host.
var starter = sync.OnceValue(func() chan<- starting {
	jobs := make(chan starting)
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job.done <- job.cmd.Start()
		}
	}()
	return jobs
})

type starting struct {
	cmd  *exec.Cmd
	done chan error
}

// Start starts a process that ends when the host does, in a group of its own: Ctrl-C at
// the terminal is for the host.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	job := starting{cmd, make(chan error)}
	starter() <- job
	return <-job.done
}

// Await waits for a process to end, and ends what it has started.
func Await(p *os.Process) *os.ProcessState {
	// As long as it is not reaped, nobody else's group has its number. A debugger that waits
	// for any process may have reaped it.
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err == nil {
		unix.Kill(-p.Pid, unix.SIGKILL)
	}
	state, _ := p.Wait()
	return state
}
