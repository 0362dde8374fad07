package procdir

import (
	"bytes"
	"os"
	"strconv"
)

// Resident returns how much of a process is in memory, bytes (proc_pid_statm(5)); 0 if it has
// ended.
func Resident(pid int) int64 {
	text, _ := os.ReadFile(File(pid, "statm"))
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return max(0, pages) * int64(os.Getpagesize())
}
