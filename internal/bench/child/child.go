//go:build linux

// Package child starts processes that end with this one, however it ends.
package child

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starts are the calls for the thread to make.
var starts = make(chan func())

var begin = sync.OnceFunc(func() {
	go func() {
		// The kernel kills a child when the thread that started it ends. This thread lives as long
		// as the process.
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
})

// Start starts a command (exec.Cmd.Start).
func Start(cmd *exec.Cmd) error {
	begin()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := make(chan error)
	starts <- func() { err <- cmd.Start() }
	return <-err
}
