// Command goparked is a Go program whose goroutines rest: as many as its argument says wait
// for a channel, three in system calls, each on a thread.
//
// Build: CGO_ENABLED=0 go build -o DIR/goparked ./testdata/progs/goparked/main.go
// which releases of Go from 1.17 on do.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

var never = make(chan int)

//go:noinline
func wait(n int) int { return <-never + n }

//go:noinline
func blocked(fd int) int {
	var b [1]byte
	n, _ := syscall.Read(fd, b[:])
	return n
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds
	// end the process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		fmt.Fprintln(os.Stderr, "pipe:", err)
		os.Exit(3)
	}
	for i := 0; i < 3; i++ {
		go blocked(pipe[0])
	}
	n := 10
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	for i := 0; i < n; i++ {
		go wait(i)
	}
	for i := 0; i < 5; i++ { // and some that have ended
		go runtime.Gosched()
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
