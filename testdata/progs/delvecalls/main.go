// Command delvecalls is a Go program with C functions that a debugger calls. It has goroutines of
// which one is in Go code, one in C, and one parked; and threads of Go's that wait for work.
package main

// #include "calls.h"
import "C"

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

var (
	counter atomic.Int64
	never   = make(chan int)
)

//export goDouble
func goDouble(n C.int) C.int { return C.int(double(int(n))) }

//go:noinline
func double(n int) int { return 2 * n }

//go:noinline
func stopsHere(n int) int {
	runtime.GC() // there are more threads then
	return n + int(counter.Add(1))
}

//go:noinline
func ticks() { counter.Add(1) }

//go:noinline
func waitsInC() { C.c_waits() }

//go:noinline
func parks() int { return <-never }

func main() {
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })
	go waitsInC()
	go parks()
	for C.c_is_waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	go func() {
		for {
			ticks()
			time.Sleep(time.Millisecond)
		}
	}()
	for n := 0; ; n++ {
		stopsHere(n)
		time.Sleep(time.Millisecond)
	}
}
