//go:build unix

package bounds

import (
	"syscall"
	"time"
)

// CPUTime returns the CPU time that the process has taken; 0 where that is not known.
func CPUTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
