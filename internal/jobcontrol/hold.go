package jobcontrol

import "sync"

var (
	mu    sync.Mutex
	holds int
	freed = sync.NewCond(&mu) // signalled when holds is 0
)

// Hold announces that threads will stand still until Release is called. It waits while this process
// is about to be stopped.
func Hold() {
	mu.Lock()
	defer mu.Unlock()
	holds++
}

// Release ends a Hold.
func Release() {
	mu.Lock()
	defer mu.Unlock()
	if holds--; holds == 0 {
		freed.Broadcast()
	}
}
