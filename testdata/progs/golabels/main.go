// Command golabels is a Go program whose goroutines have labels of runtime/pprof. It writes the
// profile of its goroutines, which has them, to standard error.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"time"
)

var never = make(chan int)

//go:noinline
func wait(ready *sync.WaitGroup) {
	ready.Done()
	<-never
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds end the
	// process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	var ready sync.WaitGroup
	start := func(n int, labels ...string) {
		ready.Add(n)
		pprof.Do(context.Background(), pprof.Labels(labels...), func(context.Context) {
			for range n {
				go wait(&ready)
			}
		})
	}
	start(7, "handler", "list", "tenant", "blue")
	start(5, "handler", "list", "tenant", "red")
	start(3, "path", "/a \"b\"\n\x1b[31m")
	start(2)
	start(1, "long", strings.Repeat("ä", 700))
	ready.Wait()
	time.Sleep(50 * time.Millisecond)
	pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	os.Stdout.WriteString("ready\n")
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			os.Exit(0)
		}
	}
}
