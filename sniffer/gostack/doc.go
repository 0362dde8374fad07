// Package gostack unwinds Go code, also where it changes stacks.
//
// Enters: the function table of a Go binary (gopclntab), which a stripped one has, too, and the code of the runtime's few assembly functions (internal/goruntime). Leaves:
// rows. [Sniffer] gives those of ordinary Go functions, by the table's stack pointer deltas and the
// forms in which the assembler sets up a frame. Each [Switch] knows one function of the runtime where
// PREVIOUS is on another stack (frame.OtherStack): systemstack, mcall and morestack lead from a
// goroutine to the thread's own stack, asmcgocall from Go to C, cgocallback from C to Go.
package gostack
