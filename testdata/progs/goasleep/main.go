// Command goasleep is a Go program whose goroutines all wait for each other. Go's runtime ends it,
// "all goroutines are asleep - deadlock!", but for what the first argument says:
//
//	signal   a goroutine waits for signals
//	timer    a timer will run a function
//	read     a goroutine reads from a pipe
//	runs     a goroutine runs
//	foreign  a thread that is not Go's waits in C (with cgo)
//
// and not at all if it is built with cgo. It says "ready" and "5 wait" before.
package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var (
	lock  sync.Mutex
	group sync.WaitGroup
	kept  int

	startForeign func() // nil without cgo
)

func main() {
	// As in ready.h: any debugger may attach. The kernel ends the process after 120 seconds: a
	// timer of Go's would be one of its timers.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	event, after, timer := [8]uint64{1: uint64(syscall.SIGKILL)}, [4]int64{2: 120}, int32(0)
	const monotonic = 1
	syscall.RawSyscall(syscall.SYS_TIMER_CREATE, monotonic, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&timer)))
	syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&after)), 0, 0, 0)

	one, other := make(chan int), make(chan int)
	signals := make(chan os.Signal, 1)
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "signal":
		signal.Notify(signals, syscall.SIGHUP)
	case "timer":
		time.AfterFunc(time.Hour, func() { one <- 1 })
	case "read":
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		go func() {
			r.Read(make([]byte, 1))
			w.Close()
			one <- 1
		}()
	case "foreign":
		startForeign()
	case "runs":
		go func() {
			for {
				kept++
			}
		}()
	}
	lock.Lock()
	group.Add(1)
	go lock.Lock()
	go group.Wait()
	go func() { one <- <-other }()
	go func() {
		select {
		case n := <-one:
			other <- n
		case <-signals:
		}
	}()
	os.Stdout.WriteString("ready\n5 wait\nend\n")
	if kept += <-other; kept < 0 {
		panic(kept)
	}
	lock.Unlock()
	group.Done()
}
