//go:build linux && (amd64 || arm64)

package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mostResume bounds how long a command to run may take to let the process run.
const mostResume = time.Second

// awaitResumed waits until a command to run that has begun lets the process run. Delve halts a
// process by a SIGTRAP (1.27.2, pkg/proc/native: requestManualStop). If the process is halted
// before, Delve does not let it run at all, and the signal stays: it would end the process once
// nobody traces that.
func (s *server) awaitResumed() {
	for until := time.Now().Add(mostResume); s.dbg.IsRunning() && allTraced(s.dbg.AttachPid()) && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
}

// allTraced reports whether a tracer holds all threads of a process, by proc_pid_stat(5).
func allTraced(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if _, state, ok := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " "); !ok || !strings.HasPrefix(state, "t") {
			return false
		}
	}
	return len(files) > 0
}
