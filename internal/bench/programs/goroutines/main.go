//go:build linux

// Command goroutines is a Go program with as many parked goroutines as its first argument says.
// With a second one, the name of a file, two threads tick, as the threads of ticker.c do.
package main

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var never = make(chan int)

//go:noinline
func wait(n int) int { return <-never + n }

// tick is struct tick of ticker.h.
type tick struct{ longest, count atomic.Uint64 }

// ticking notes how long its thread was away for at most, when it sleeps for 50 microseconds again
// and again.
func ticking(t *tick) {
	runtime.LockOSThread()
	const prSetTimerSlack = 29
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	start := time.Now()
	for last := time.Duration(0); ; {
		pause := syscall.Timespec{Nsec: 50_000}
		syscall.Nanosleep(&pause, nil)
		now := time.Since(start)
		if d := uint64(now - last); d > t.longest.Load() {
			t.longest.Store(d)
		}
		t.count.Add(1)
		last = now
	}
}

func main() {
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for i := range n {
		go wait(i)
	}
	if len(os.Args) > 2 {
		f, err := os.OpenFile(os.Args[2], os.O_RDWR, 0)
		if err != nil {
			panic(err)
		}
		file, err := syscall.Mmap(int(f.Fd()), 0, int(2*unsafe.Sizeof(tick{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			panic(err)
		}
		ticks := (*[2]tick)(unsafe.Pointer(&file[0]))
		go ticking(&ticks[0])
		go ticking(&ticks[1])
	}
	os.Stdout.WriteString("ready\n")
	time.Sleep(time.Hour) // the runtime ends a program in which nothing can happen any more
}
