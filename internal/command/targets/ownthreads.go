package targets

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ownThreads returns the threads of a process by the IDs that it knows itself (NSpid of
// proc_pid_status(5)), as in a container.
func ownThreads(pid int) map[int]int {
	of := map[int]int{}
	dirs, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, d := range dirs {
		tid, err := strconv.Atoi(d.Name())
		status, failed := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
		if err != nil || failed != nil {
			continue
		}
		_, list, _ := bytes.Cut(status, []byte("\nNSpid:"))
		list, _, _ = bytes.Cut(list, []byte("\n"))
		fields := bytes.Fields(list)
		if len(fields) < 2 {
			break // all threads are of one namespace
		}
		if own, err := strconv.Atoi(string(fields[len(fields)-1])); err == nil {
			of[own] = tid
		}
	}
	return of
}
