package plugincheck

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// children returns the child processes of pid.
func children(pid int) (list []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		n, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if _, parent, err := stat(n); err == nil && parent == pid {
			list = append(list, n)
		}
	}
	return list
}

// stat returns a process's state and its parent (proc(5): PID (NAME) STATE PPID …, where a
// name may have brackets).
func stat(pid int) (state string, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, err = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent)
	}
	return state, parent, err
}

// exists reports whether a process exists. A zombie does not.
func exists(pid int) bool {
	state, _, err := stat(pid)
	return err == nil && state != "Z"
}
