package native

import "time"

// DefaultTimeout is how long [Attach], and a stop of all threads, wait for a thread to stop.
const DefaultTimeout = time.Second

// Options configure an Attach. The zero Options holds all threads.
type Options struct {
	// Threads are the IDs of the threads to hold; empty for all threads. The others run on and are
	// not traced. They must not come to a breakpoint: it would end the process.
	Threads []int
	// Timeout bounds the time that each stop may take; 0 means [DefaultTimeout].
	Timeout time.Duration
}
