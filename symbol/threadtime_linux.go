package symbol

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of this thread: on a busy machine, a name does not cost what
// other programs take.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
