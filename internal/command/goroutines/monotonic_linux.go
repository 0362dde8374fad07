package goroutines

import "golang.org/x/sys/unix"

// monotonic returns the time by the clock of Go's runtime, ns; 0 if it is not known.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}
