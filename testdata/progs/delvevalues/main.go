// Command delvevalues is a Go program with frames of C and C++ whose variables the source tells.
// Goroutines come to rest in
//
//	main.main > main.begins > cgo > c_waits > c_inner > cxx_waits > ns::holder<int>::waits > c_ends > pause
//	main.main.func2 > cgo > c_calls_back > cgo > main.goBack > cgo > c_ends > pause
//
// With the argument "turns", a function of C calls main.goTurn for ever instead.
package main

// #include "values.h"
import "C"

import (
	"os"
	"slices"
	"syscall"
	"time"
)

//export goBack
func goBack(n C.long) {
	inGo := int(n) * 2
	C.c_ends(n)
	println(inGo)
}

//export goTurn
func goTurn(turn C.int) {
	stops(int(turn))
}

//go:noinline
func stops(turn int) {
	if turn%1000 == 0 {
		time.Sleep(time.Millisecond)
	}
}

//go:noinline
func begins(n int) {
	text := "Go's own"
	C.c_waits(C.int(n))
	println(text)
}

func main() {
	// As in ready.h: any debugger may attach, the end of standard input or 120 seconds
	// end the process.
	const prSetPtracer = 0x59616d61
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, ^uintptr(0), 0)
	time.AfterFunc(120*time.Second, func() { os.Exit(4) })
	if slices.Contains(os.Args, "turns") {
		C.c_turns()
	}
	go func() { C.c_calls_back(60) }()
	go ready()
	begins(3)
}

// ready says so once C is about to block, and ends with standard input.
func ready() {
	for C.c_waiting() < 2 {
		time.Sleep(time.Millisecond)
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
