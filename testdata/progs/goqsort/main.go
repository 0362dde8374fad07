// Goqsort has C sort with a comparison that is in Go, which has C sort in turn, all the time,
// on two goroutines: left > C sort_left > qsort > leftCompare > leftInner > C sort_left > qsort
// > leftCompare, and the same with right. With an argument, it asks for the time instead.
//
// Proves: the stacks that a thread has left, of goroutines and its own, are shown as they were
// when the thread was read, however they are nested.
//
// Build: CGO_ENABLED=1 go build
package main

/*
#include <stdlib.h>
extern int leftCompare(void *, void *);
extern int rightCompare(void *, void *);
static int compare_left(const void *a, const void *b) { return leftCompare((void *)a, (void *)b); }
static int compare_right(const void *a, const void *b) { return rightCompare((void *)a, (void *)b); }
static volatile long sink;
static void __attribute__((noinline)) sort_left(int *p, int n) { qsort(p, n, sizeof *p, compare_left); sink++; }
static void __attribute__((noinline)) sort_right(int *p, int n) { qsort(p, n, sizeof *p, compare_right); sink++; }
*/
import "C"

import (
	"os"
	"time"
	"unsafe"
)

var sink int

func compare(a, b unsafe.Pointer) C.int {
	for i := range 50 {
		sink += i
	}
	return *(*C.int)(a)%100 - *(*C.int)(b)%100
}

//export leftCompare
func leftCompare(a, b unsafe.Pointer) C.int {
	if *(*C.int)(a) >= 100 {
		leftInner()
	}
	return compare(a, b)
}

//export rightCompare
func rightCompare(a, b unsafe.Pointer) C.int {
	if *(*C.int)(a) >= 100 {
		rightInner()
	}
	return compare(a, b)
}

//go:noinline
func leftInner() {
	p := [...]C.int{3, 1, 2, 5, 4}
	C.sort_left(&p[0], C.int(len(p)))
}

//go:noinline
func rightInner() {
	p := [...]C.int{3, 1, 2, 5, 4}
	C.sort_right(&p[0], C.int(len(p)))
}

func numbers() []C.int {
	p := make([]C.int, 100)
	for i := range p {
		p[i] = C.int(100 + i*7919%100)
	}
	return p
}

//go:noinline
func left(n int) {
	if n > 0 {
		left(n - 1)
		return
	}
	p := numbers()
	C.sort_left(&p[0], C.int(len(p)))
}

//go:noinline
func right(n int) {
	if n > 0 {
		right(n - 1)
		return
	}
	p := numbers()
	C.sort_right(&p[0], C.int(len(p)))
}

//go:noinline
func now() {
	for {
		sink += time.Now().Nanosecond()
	}
}

func main() {
	os.Stdout.WriteString("ready\n")
	if len(os.Args) > 1 {
		now()
	}
	go func() {
		for {
			left(5)
		}
	}()
	for {
		right(2)
	}
}
