// Command gocgo is a Go program whose threads have stacks of Go and C mixed, each known
// from the source: the unwinder's target for the places where Go's run time changes stacks.
//
// Every scenario has a goroutine that owns its thread, or a thread that C has made, and
// ends blocked in read(2), most of them in C. From the outermost frame inwards:
//
//	inC        goexit main.inC C.stack_outer
//	nested     goexit main.nested C.stack_calls_go main.goCallback C.stack_outer
//	deep       goexit main.deepest ×20 … the same, after the goroutine's stack has moved
//	           in the callback
//	thread     start_thread stack_thread C.stack_calls_go main.goCallback C.stack_outer
//	signalInC  goexit main.signalInC C.stack_raises <signal> handler C.stack_block
//	signalInGo goexit main.signalInGo <signal> handler C.stack_block
//	panics     goexit main.panics main.faults runtime.sigpanic … main.recovers C.stack_outer
//
// Build: go build -o DIR/gocgo ./testdata/progs/gocgo
package main

// #include "stacks.h"
// #include <signal.h>
import "C"

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

var sink atomic.Int64

//go:noinline
func inC(n int) { sink.Add(int64(C.stack_outer(C.int(n)))) }

// What goCallback does with a number.
const (
	callbackBlocks = 1
	callbackGrows  = 2
)

//export goCallback
func goCallback(n C.int) C.int {
	if n == callbackGrows {
		sink.Add(int64(grows(200)))
	}
	return calledBack(n) + 1
}

//go:noinline
func calledBack(n C.int) C.int { return C.stack_outer(n) + 1 }

// grows uses so much of the stack that it must be moved.
//
//go:noinline
func grows(n int) int {
	var pad [64]int
	pad[n%64] = n
	if n == 0 {
		return pad[0]
	}
	return grows(n-1) + pad[n%64]
}

//go:noinline
func nested(n int) { sink.Add(int64(C.stack_calls_go(C.int(n)))) }

//go:noinline
func signalInC(n int) { sink.Add(int64(C.stack_raises(C.int(n)))) }

//go:noinline
func signalInGo(n int) {
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(syscall.Gettid()), uintptr(syscall.SIGUSR2))
	sink.Add(int64(n))
}

//go:noinline
func panics(n int) {
	defer recovers(n)
	sink.Add(int64(faults(nil)))
}

//go:noinline
func faults(p *int) int { return *p + 1 }

//go:noinline
func recovers(n int) { sink.Add(int64(C.stack_outer(C.int(n)))) }

func main() {
	C.stacks_handle_usr2()
	scenarios := []func(int){inC, nested, nested, signalInC, signalInGo, panics}
	for i, f := range scenarios {
		go func() {
			runtime.LockOSThread()
			n := callbackBlocks
			if i == 2 {
				n = callbackGrows
			}
			f(n)
		}()
	}
	C.stacks_start_thread(callbackBlocks)
	C.stacks_start_thread(callbackGrows)
	for int(C.stacks_arrived()) < len(scenarios)+2 {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	var b [1]byte
	syscall.Read(0, b[:])
}
