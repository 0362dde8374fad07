//go:build linux && (amd64 || arm64)

package server

import (
	"bytes"
	"fmt"
	"os"

	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/internal/procdir"
)

// attempts bounds how often Delve attaches to a process that makes threads all the time.
const attempts = 20

// NewDebugger is Delve's debugger.New, but attaches to all threads. Delve lists the threads of a
// process once while it attaches: one that begins meanwhile is not stopped, and Delve never sees it
// (Delve 1.27.2). NewDebugger has Delve attach again if that has happened, and says so on the
// standard error if it happens each time.
func NewDebugger(config *debugger.Config, args []string) (*debugger.Debugger, error) {
	for range attempts - 1 {
		dbg, err := debugger.New(config, args)
		if err != nil || unseen(config.AttachPid) == 0 {
			return dbg, err
		}
		if err := dbg.Detach(false); err != nil {
			return nil, fmt.Errorf("detach, to attach again: %w", err)
		}
	}
	dbg, err := debugger.New(config, args)
	if err == nil {
		tellUnseen(config.AttachPid)
	}
	return dbg, err
}

// tellUnseen warns of threads that Delve does not see of a process that it has attached to.
func tellUnseen(pid int) {
	if n := unseen(pid); n > 0 {
		warn("%d of the threads of %d are not stopped, and Delve does not see them: they began while it attached. Attach again", n, pid)
	}
}

// unseen counts the threads of a process that nobody traces. PID 0 is no process.
func unseen(pid int) (n int) {
	if pid == 0 {
		return 0
	}
	tasks, _ := os.ReadDir(procdir.File(pid, "task"))
	for _, t := range tasks {
		status, err := os.ReadFile(procdir.File(pid, "task/"+t.Name()+"/status"))
		if err == nil && bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
			n++
		}
	}
	return n
}
