package debugfiles

import (
	"os/exec"
	"syscall"
)

// endsWithThis has a program that will be started end when this process ends.
func endsWithThis(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
