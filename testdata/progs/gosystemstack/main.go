// Command gosystemstack is a Go program with a goroutine that nearly always makes the runtime work
// on the runtime's own stack, while it has frames on its own.
package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

//go:noinline
func lists(buf []byte) int { return runtime.Stack(buf, true) }

//go:noinline
func asks(depth int, buf []byte) int {
	if depth > 0 {
		return asks(depth-1, buf) + 1
	}
	return lists(buf)
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds end the
	// process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })
	never := make(chan int)
	for range 2000 {
		go func() { <-never }()
	}
	go func() {
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	os.Stdout.WriteString("ready\n")
	for buf := make([]byte, 8<<20); ; {
		asks(5, buf)
	}
}
