// Command goclock has two goroutines that ask for the time without end: most of the time they are
// in the vDSO, on the stack of their thread, which the goroutine has left for it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

var last time.Time

//go:noinline
func asks(depth int) int {
	if depth > 0 {
		return asks(depth-1) + 1
	}
	for {
		last = time.Now()
	}
}

//go:noinline
func locked() {
	runtime.LockOSThread()
	asks(5)
}

func main() {
	go locked()
	go locked()
	fmt.Println("ready")
	for b := make([]byte, 1); ; {
		if n, _ := os.Stdin.Read(b); n == 0 {
			os.Exit(0)
		}
	}
}
