// Command gotarget is a Go program with goroutines in several states: the
// unwinder's target for Go's own frames (.debug_frame, and frame pointers in
// a binary without it).
//
// It proves that the stacks of a Go program's threads come out whole although
// it has no .eh_frame and no .sframe. Locked is a goroutine that owns its
// thread and is in a system call below a chain of Go functions, so one thread
// has a stack that is known in advance:
//
//	runtime.goexit > main.main.gowrap1 > main.locked > main.lockedOuter >
//	main.lockedInner > main.blockInRead > syscall.Read > ...
//
// The others wait: for a channel, in select, for a mutex, asleep, in a
// network poll, and one runs.
//
// Build: CGO_ENABLED=0 go build -o DIR/gotarget ./testdata/progs/gotarget
// and with -ldflags=-w for a binary without DWARF.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	counter atomic.Int64
	mu      sync.Mutex
	reached = make(chan struct{})
)

//go:noinline
func blockInRead(fd int) int {
	var b [1]byte
	close(reached)
	for {
		// Not os.File: the thread itself shall block in the kernel.
		if n, _ := syscall.Read(fd, b[:]); n == 0 {
			return 0
		}
	}
}

//go:noinline
func lockedInner(fd int, pad [5]int) int { return blockInRead(fd) + pad[2] }

//go:noinline
func lockedOuter(fd int) int { return lockedInner(fd, [5]int{1, 2, 3, 4, fd}) + 1 }

//go:noinline
func locked(fd int) {
	runtime.LockOSThread()
	counter.Add(int64(lockedOuter(fd)))
}

//go:noinline
func running() {
	for {
		counter.Add(1)
	}
}

//go:noinline
func waitsForChannel(c chan int) int { return <-c }

//go:noinline
func waitsInSelect(a, b chan int) int {
	select {
	case n := <-a:
		return n
	case n := <-b:
		return n + 1
	}
}

//go:noinline
func waitsForMutex() {
	mu.Lock()
	defer mu.Unlock()
	counter.Add(1)
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or
	// 120 seconds end the process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		fmt.Fprintln(os.Stderr, "pipe:", err)
		os.Exit(3)
	}
	mu.Lock()
	go locked(pipe[0])
	go waitsForChannel(make(chan int))
	go waitsInSelect(make(chan int), make(chan int))
	go waitsForMutex()
	go time.Sleep(time.Hour)
	go running()
	<-reached
	time.Sleep(50 * time.Millisecond)
	fmt.Println("ready")
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			os.Exit(0)
		}
	}
}
