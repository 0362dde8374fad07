//go:build !nocgo

package main

// int steps_leaf(int n);
// int steps_calls_go(int n);
import "C"

//export goStep
func goStep(n C.int) C.int { return C.steps_leaf(n) + 1 }

//go:noinline
func cgo() {
	sink += int(C.steps_leaf(1))
	sink += int(C.steps_calls_go(2))
}
