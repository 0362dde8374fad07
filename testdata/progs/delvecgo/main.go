// Command delvecgo is a Go program whose goroutines are in C, in all the ways of cgo: what
// Delve's own stacks end in, or get wrong. Each comes to rest in a chain of functions that
// is known from the source:
//
//	main.blocksOuter > main.blocksInC > cgo > c_blocks > c_blocks_middle > c_blocks_inner > pause
//	main.callsOuter > main.callsC > cgo > c_calls_go > c_calls_go_inner > cgo > main.goCallback >
//	  main.callbackInner > cgo > c_blocks > ...
//	main.parksOuter > main.callsC > ... > main.goCallback > main.callbackInner > main.parks > a channel
//	main.signalOuter > main.signalled > cgo > c_is_signalled > c_signalled_inner > (the C library) >
//	  <signal> > handler > handler_inner > pause
//	thread_begins > thread_middle > cgo > main.goFromThread > main.threadInner > main.parks, or C again
//	main.recurse, 40 times > main.blocksInC > ...
//	runtime.main > main.main > main.blocksOuter ... where the argument is "main"
//
// The file c/delvecgo.c is compiled apart, and given to cgo as an object file:
//
//	cc -O2 -fomit-frame-pointer -Wa,--gsframe -c -o c.o c/delvecgo.c && objcopy -R .eh_frame c.o
//	CGO_ENABLED=1 CGO_LDFLAGS=$PWD/c.o go build -o DIR/delvecgo .
package main

/*
#include "c/delvecgo.h"
*/
import "C"

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	never   = make(chan int)
	reached atomic.Int32 // goroutines that are about to block
	counter atomic.Int64
)

type point struct {
	X, Y int
	Name string
}

//go:noinline
func blocksInC(n int) int {
	p := point{n, n + 1, "blocks"}
	reached.Add(1)
	r := int(C.c_blocks(C.long(n)))
	counter.Add(int64(p.X + len(p.Name)))
	return r + p.Y
}

//go:noinline
func blocksOuter(n int) int {
	local := [3]int{n, n * 2, n * 3}
	r := blocksInC(n + 1)
	counter.Add(int64(local[1]))
	return r + local[2]
}

//go:noinline
func callsC(n int) int {
	text := "calls C"
	r := int(C.c_calls_go(C.long(n)))
	counter.Add(int64(len(text)))
	return r + n
}

//go:noinline
func callsOuter(n int) int {
	p := &point{n, n + 1, "outer"}
	r := callsC(n + 1)
	counter.Add(int64(p.Y))
	return r
}

//go:noinline
func parksOuter(n int) int { return callsOuter(n) + 1 }

// parking is added to a number to have goCallback park.
const parking = 1000

//export goCallback
func goCallback(n C.long) C.long {
	return C.long(callbackInner(int(n)))
}

//go:noinline
func callbackInner(n int) int {
	list := []int{n, n + 1}
	var r int
	if n >= parking {
		r = parks(n)
	} else {
		r = blocksInC(n)
	}
	return r + list[1]
}

//go:noinline
func parks(n int) int {
	name := "parked"
	reached.Add(1)
	r := <-never
	counter.Add(int64(len(name)))
	return r + n
}

//export goFromThread
func goFromThread(n C.long) C.long {
	return C.long(threadInner(int(n)))
}

//go:noinline
func threadInner(n int) int {
	from := "a thread of C's"
	var r int
	if n >= parking {
		r = parks(n)
	} else {
		r = blocksInC(n)
	}
	return r + len(from)
}

//go:noinline
func signalled(n int) int {
	p := point{n, n, "signalled"}
	reached.Add(1)
	r := int(C.c_is_signalled(C.long(n)))
	return r + p.Y
}

//go:noinline
func signalOuter(n int) int { return signalled(n+1) + 1 }

//go:noinline
func recurse(n int) int {
	if n == 0 {
		return blocksInC(n)
	}
	return recurse(n-1) + 1
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds
	// end the process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	go blocksOuter(100)
	go callsOuter(200)
	go parksOuter(parking)
	go signalOuter(300)
	go recurse(40)
	C.c_starts_thread(400)
	C.c_starts_thread(parking)
	inC := slices.Contains(os.Args, "main")
	go ready(inC)
	if inC {
		blocksOuter(500)
	}
	select {}
}

// ready says so once all are about to block, and ends with standard input.
func ready(main bool) {
	blocked := int32(7)
	if main {
		blocked++
	}
	for reached.Load() < blocked {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	os.Stdout.WriteString("ready\n")
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			os.Exit(0)
		}
	}
}
