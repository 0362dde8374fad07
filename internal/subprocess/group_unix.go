//go:build unix && !linux

package subprocess

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own: Ctrl-C at the terminal is for the host
// alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
