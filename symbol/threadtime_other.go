//go:build !linux

package symbol

import "time"

var started = time.Now()

// threadTime returns the time since the start: it stands for the CPU time of this thread.
func threadTime() time.Duration { return time.Since(started) }
