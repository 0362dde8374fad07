// Command cgo has C code before, between and behind Go's.
package main

/*
static int __attribute__((noinline)) square(int x) { return x * x + 1; }
*/
import "C"

func work(n int) int { return int(C.square(C.int(n))) + 1 }

func main() { println(work(3)) }
