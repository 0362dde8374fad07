// Command gopanic is a Go program in which Go has called C, C has called Go, and that has left them
// all by a panic, or by runtime.Goexit. A deferred function of the Go function that called C still
// runs, so all outer frames of Go are there. The C functions between them are given up: the thread
// uses their part of its own stack for something else.
//
//	gopanic panic|goexit BLOCK DEPTH [thread]
//
// DEPTH is how many calls of C lie around the one that is given up. BLOCK is how the deferred
// function waits: select, raw (a system call of which the runtime is not told), c (in C), or again
// (in Go, which C has called, which the deferred function has called). With thread, a thread that C
// has made begins it all.
//
// Build: go build -o DIR/gopanic ./testdata/progs/gopanic
package main

// #include <pthread.h>
// #include <unistd.h>
// extern void up(int); static __attribute__((noinline)) void down(int n) { up(n); __asm__
// volatile(""); } static void *run(void *n) { down((int)(long)n); return 0; } static void begin(int
// n) { pthread_t t; pthread_create(&t, 0, run, (void *)(long)n); pthread_join(t, 0); } static
// __attribute__((noinline)) void waitsInC(void) { for (;;) pause(); }
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

const blocks = -1 // what up does, instead of a depth

//export up
func up(n C.int) {
	switch {
	case n == blocks:
		ready()
		select {}
	case n > 0:
		calls(int(n) - 1)
	default:
		leaves(nil)
	}
}

//go:noinline
func calls(n int) {
	if n == 0 {
		defer waits()
	}
	C.down(C.int(n))
}

//go:noinline
func leaves(m map[string]int) {
	if os.Args[1] == "goexit" {
		runtime.Goexit()
	}
	m["x"] = 1
}

//go:noinline
func waits() {
	switch os.Args[2] {
	case "again":
		C.down(blocks)
	case "select":
		ready()
		select {}
	case "raw":
		ready()
		var ends [2]int
		syscall.Pipe(ends[:])
		var b [1]byte
		syscall.RawSyscall(syscall.SYS_READ, uintptr(ends[0]), uintptr(unsafe.Pointer(&b)), 1)
	case "c":
		ready()
		C.waitsInC()
	}
}

func ready() { fmt.Println("ready") }

func main() {
	depth, _ := strconv.Atoi(os.Args[3])
	if len(os.Args) > 4 {
		go C.begin(C.int(depth + 1))
	} else {
		go calls(depth)
	}
	os.Stdin.Read(make([]byte, 1))
}
