// Command golib is a library of Go for programs of C, to be built as c-shared. Each build has a
// runtime of its own, with goroutines that have the same numbers as the other builds' goroutines.
//
// Build: go build -buildmode=c-shared -o DIR/golib.so ./testdata/progs/golib
package main

import "C"

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var waiting atomic.Int32

//export Begin
func Begin(n C.int) {
	for range n {
		go waits(make(chan int))
	}
	for waiting.Load() != int32(n) {
		time.Sleep(time.Millisecond)
	}
}

//go:noinline
func waits(c chan int) {
	waiting.Add(1)
	<-c
}

//export Blocks
func Blocks() { select {} }

type color int

const (
	red color = iota
	green
)

type shape struct {
	side int
	in   color
}

// Holds has variables whose types are known by this library's own tables alone.
//
//export Holds
func Holds() { holds(shape{7, green}, green) }

//go:noinline
func holds(what any, tint color) (any, color) {
	var ends [2]int
	syscall.Pipe(ends[:])
	var b [1]byte
	syscall.RawSyscall(syscall.SYS_READ, uintptr(ends[0]), uintptr(unsafe.Pointer(&b)), 1)
	return what, tint
}

func main() {}
