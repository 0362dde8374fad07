//go:build unix && !linux

package external

import (
	"os"
	"os/exec"
	"syscall"
)

// tcp says whether plug-ins may serve at a TCP address of this machine.
const tcp = false

// start starts a process in a group of its own: Ctrl-C at the terminal is for the host.
// It ends with the host when its standard input does.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

// await waits for a process to end, and ends what it has started.
func await(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	return state
}
