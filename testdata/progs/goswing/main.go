// Goswing goes from C function to C function all the time, each called by a Go function
// of its own: left > leftInner > C left > spin, and right > rightInner > C right > spin; with
// an argument, the C functions call nothing.
//
// Proves: the stack of a goroutine that a thread has left for C is shown as it was when
// the thread was read, or says that it is not.
//
// Build: CGO_ENABLED=1 go build
package main

/*
static volatile long sink;
static inline void count(int n) {
	for (int i = 0; i < n; i++)
		sink++;
}
static void __attribute__((noinline)) spin(void) { count(500000); sink++; }
static void __attribute__((noinline)) left(int leaf) {
	if (leaf)
		count(20000);
	else
		spin();
	sink++;
}
static void __attribute__((noinline)) right(int leaf) {
	if (leaf)
		count(20000);
	else
		spin();
	sink--;
}
*/
import "C"

import "os"

//go:noinline
func leftInner() { C.left(leaf) }

//go:noinline
func left() { leftInner() }

//go:noinline
func rightInner() { C.right(leaf) }

//go:noinline
func right() { rightInner() }

var leaf C.int

func main() {
	if len(os.Args) > 1 {
		leaf = 1
	}
	os.Stdout.WriteString("ready\n")
	for {
		left()
		right()
	}
}
