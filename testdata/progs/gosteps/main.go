// Command gosteps is a Go program that does, after a byte on standard input, what its
// argument says, to be stepped through: every instruction of the run time's functions
// that change stacks, of C called by Go and Go called by C, and of ordinary functions of
// Go with frames of all kinds.
//
//	cgo       a call of C, and of C that calls Go that calls C
//	runtime   work on the thread's own stack, and the time from the vDSO
//	frames    functions without frame, with small ones and large ones, by reflection
//	grows     a stack that is too small, twice
//	panics    a fault that is recovered from
//
// Build: go build -o DIR/gosteps ./testdata/progs/gosteps
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"syscall"
	"time"
)

var sink int

var kept []byte

//go:noinline
func works() {
	kept = make([]byte, 1<<20)
	sink += time.Now().Nanosecond()
	sink += runtime.Callers(0, make([]uintptr, 20))
}

//go:noinline
func leaf(a, b int) int { return a*b + 1 }

//go:noinline
func small(a int) int { return leaf(a, 2) + leaf(2, a) }

//go:noinline
func large(a int) int {
	var pad [100]int
	pad[a] = small(a)
	return pad[a+1] + pad[a]
}

//go:noinline
func larger(a int) int {
	var pad [1500]int
	pad[a] = large(a)
	return pad[a+1] + pad[a]
}

//go:noinline
func variadic(s string, list ...any) int { return len(s) + len(list) }

type pair struct{ a, b int }

func (p pair) Sum() int { return small(p.a) + p.b }

type summer interface{ Sum() int }

//go:noinline
func frames() {
	sink += larger(3)
	sink += variadic("x", 1, "y", 2.5)
	var s summer = &pair{1, 2}
	sink += s.Sum()
	sink += int(reflect.ValueOf(small).Call([]reflect.Value{reflect.ValueOf(3)})[0].Int())
	func() {
		defer func() { sink += small(2) }()
		large(4)
	}()
}

//go:noinline
func recurses(n int) int {
	var pad [100]int
	pad[n%100] = n
	if n == 0 {
		return pad[0]
	}
	return recurses(n-1) + pad[n%100]
}

//go:noinline
func grows() { sink += recurses(14) }

//go:noinline
func faults(p *pair) int { return p.b }

//go:noinline
func panics() {
	defer func() {
		if recover() != nil {
			sink++
		}
	}()
	sink += faults(nil)
}

func main() {
	runtime.LockOSThread()
	todo := map[string]func(){"cgo": cgo, "runtime": works, "frames": frames, "grows": grows, "panics": panics}[os.Args[1]]
	done := make(chan int)
	go func() {
		runtime.LockOSThread()
		var b [1]byte
		fmt.Println("ready")
		if os.Args[1] != "grows" {
			recurses(60) // so that the stack is large enough
		}
		runtime.Gosched() // its time begins anew
		syscall.Read(0, b[:])
		todo()
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}()
	<-done
}
