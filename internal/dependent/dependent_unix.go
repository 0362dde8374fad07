//go:build unix && !linux

package dependent

import (
	"os"
	"os/exec"
	"syscall"
)

// Start starts a process in a group of its own: Ctrl-C at the terminal is for the host.
// It ends with the host when its standard input does.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

// Await waits for a process to end, and ends what it has started.
func Await(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	return state
}
