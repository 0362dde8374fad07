// Package gostack unwinds Go code, also where it changes stacks.
//
// The package computes rows from the function table of a Go binary (gopclntab), which a stripped
// one has, too, and from the code of the runtime's few assembly functions (internal/goruntime).
// [Sniffer] gives the rows of ordinary Go functions, by the table's stack pointer deltas and the
// forms in which the assembler sets up a frame. Each [Switch] knows one function of the runtime
// where PREVIOUS is on another stack (frame.OtherStack). systemstack, mcall and morestack lead from
// a goroutine to the thread's own stack, asmcgocall from Go to C, and cgocallback from C to Go.
// After a panic below C, the runtime has given that C up: then cgocallback leads to where the
// goroutine has called C.
package gostack
