//go:build linux && (amd64 || arm64)

package dlvhost

import (
	"bytes"
	"fmt"
	"os"

	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// attempts bounds how often Delve attaches to a process that makes threads all the time.
const attempts = 20

// newDebugger starts the debugging that config says. Delve lists the threads of a process once
// while it attaches: one that begins meanwhile is not stopped, and Delve never sees it (Delve
// 1.27.2). So Delve attaches again if that has happened.
func newDebugger(config *debugger.Config, args []string) (*debugger.Debugger, error) {
	for range attempts - 1 {
		dbg, err := debugger.New(config, args)
		if err != nil || config.AttachPid == 0 || untraced(config.AttachPid) == 0 {
			return dbg, err
		}
		if err := dbg.Detach(false); err != nil {
			return nil, fmt.Errorf("detach, to attach again: %w", err)
		}
	}
	dbg, err := debugger.New(config, args)
	if err != nil {
		return nil, err
	}
	if n := untraced(config.AttachPid); n > 0 {
		printable.Fprintf(os.Stderr, "sfwalk dlv: %d threads are not stopped, and Delve does not see them: they began while it attached, "+
			"at each of %d attempts\n", n, attempts)
	}
	return dbg, nil
}

// untraced counts the threads of a process that nobody traces.
func untraced(pid int) (n int) {
	tasks, _ := os.ReadDir(procdir.File(pid, "task"))
	for _, t := range tasks {
		status, err := os.ReadFile(procdir.File(pid, "task/"+t.Name()+"/status"))
		if err == nil && bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
			n++
		}
	}
	return n
}
