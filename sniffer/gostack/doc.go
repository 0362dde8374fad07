// Package gostack unwinds Go code, and where it changes stacks.
//
// Enters: the function table that every Go binary has (gopclntab), also one without
// DWARF and symbols, and the code of the runtime's few assembly functions. Leaves:
// rows. [Sniffer] gives those of ordinary Go functions. The others know one function
// of the runtime each, where PREVIOUS is on another stack (frames of type arch):
// systemstack, mcall and morestack (goroutine to the thread's own stack), asmcgocall
// (Go to C), cgocallback (C to Go).
package gostack
