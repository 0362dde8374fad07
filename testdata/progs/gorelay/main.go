// Command gorelay is a Go program in which a function of assembly does not return to its caller,
// which is a stub, but to the stub's caller. Libraries that have C call Go without cgo do so: the
// return address into a table of stubs tells which function is meant. The function uses the word
// where the true return address was for something else.
//
// From the outermost frame inwards: main.main main.outer main.relay main.inner.
//
// Build: go build -o DIR/gorelay ./testdata/progs/gorelay
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// stub calls relay.
func stub()

// relay calls inner, and returns to the stub's caller.
func relay()

var ends [2]int

func init() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // the runtime itself cannot walk over relay
}

//go:noinline
func outer(n int) int {
	stub()
	return n + 1
}

//go:noinline
//go:nosplit
func inner() {
	var b [1]byte
	syscall.RawSyscall(syscall.SYS_READ, uintptr(ends[0]), uintptr(unsafe.Pointer(&b)), 1)
}

func main() {
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	if len(os.Args) > 1 { // inner comes back
		syscall.Write(ends[1], []byte{0})
		fmt.Fprintln(os.Stderr, "returned", outer(1))
	}
	fmt.Println("ready")
	outer(1)
}
