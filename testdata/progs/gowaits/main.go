// Command gowaits is a Go program whose goroutines wait in every way: for channels and locks, for
// time, files and system calls; two of them with deep stacks. Behind "ready", it says for what they
// wait, and ends that by "end":
//
//	chan ADDRESS LEN CAP RECEIVERS SENDERS
//	mutex ADDRESS WAITERS
//	rwmutex ADDRESS WAITERS
//	waitgroup ADDRESS WAITERS COUNTER
//
// With the argument "deadlock", only goroutines that wait for channels and locks are there.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

// shared is what goroutines wait for. Lock is not its first member.
type shared struct {
	_     [3]int
	lock  sync.Mutex
	many  sync.RWMutex
	group sync.WaitGroup
}

var global = &shared{}

// static is in the program's data.
var static sync.Mutex

var kept int

//go:noinline
func deep(n int, c chan int) int {
	var room [10]int
	room[n%10] = n
	if n == 0 {
		kept += <-c
	} else {
		kept += deep(n-1, c)
	}
	return room[n%10]
}

//go:noinline
func receive(c chan int) { kept += <-c }

//go:noinline
func send(c chan int) { c <- 1 }

//go:noinline
func either(a, b chan int) {
	select {
	case n := <-a:
		kept += n
	case b <- 2:
	}
}

//go:noinline
func lock(m *sync.Mutex) { m.Lock() }

//go:noinline
func blocked(fd int) {
	var b [1]byte
	syscall.Read(fd, b[:])
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds end the
	// process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })

	received, full, both, never := make(chan int), make(chan int, 3), make(chan int, 1), make(chan int)
	for range 3 {
		full <- 1
	}
	start := func(n int, f func()) {
		for range n {
			go f()
		}
	}
	start(7, func() { receive(received) })
	start(5, func() { send(full) })
	start(2, func() { either(both, full) })
	start(1, func() { deep(500, never) })
	start(1, func() { deep(9000, never) })
	facts := fmt.Sprintf("chan %p 0 0 7 0\nchan %p 3 3 0 7\nchan %p 0 1 2 0\nchan %p 0 0 5 0\n", received, full, both, never)

	global.lock.Lock()
	start(4, func() { lock(&global.lock) })
	static.Lock()
	start(3, func() { lock(&static) })
	facts += fmt.Sprintf("mutex %p 4\nmutex %p 3\n", &global.lock, &static)
	global.many.RLock()
	start(1, func() { global.many.Lock() })
	global.group.Add(6)
	start(2, global.group.Wait)
	facts += fmt.Sprintf("rwmutex %p 1\nwaitgroup %p 2 6\n", &global.many, &global.group)
	cond := sync.NewCond(new(sync.Mutex))
	start(2, func() { cond.L.Lock(); cond.Wait() })
	start(1, func() { receive(nil) })
	start(1, func() { select {} })
	pprof.Do(context.Background(), pprof.Labels("tenant", "blue"), func(context.Context) { start(3, func() { receive(never) }) })

	if len(os.Args) < 2 || os.Args[1] != "deadlock" {
		start(1, func() { time.Sleep(time.Hour) })
		r, _, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		start(1, func() { r.Read(make([]byte, 1)) })
		var pipe [2]int
		if err := syscall.Pipe(pipe[:]); err != nil {
			panic(err)
		}
		start(2, func() { blocked(pipe[0]) })
	}
	busy := regexp.MustCompile(`(?m)^goroutine \d+ \[(running|runnable)`)
	for text := make([]byte, 1<<20); ; time.Sleep(time.Millisecond) {
		all := text[:runtime.Stack(text, true)]
		if len(busy.FindAll(all, -1)) == 1 && bytes.Count(all, []byte("[syscall")) < 4 {
			break
		}
	}
	if kept < 0 {
		panic(kept) // it is used
	}
	os.Stdout.WriteString("ready\n" + facts + "end\n")
	var b [1]byte
	for {
		if n, _ := os.Stdin.Read(b[:]); n == 0 {
			os.Exit(0)
		}
	}
}
