// Package gostack unwinds Go code, and where it changes stacks.
//
// Enters: the function table that every Go binary has (gopclntab), also one without
// DWARF and symbols, and the code of the runtime's few assembly functions. Leaves:
// rows. [Sniffer] gives those of ordinary Go functions: by the table's stack pointer
// deltas and the forms in which the assembler sets up a frame. The others ([Switch]) know
// one function of the runtime each, where PREVIOUS is on another stack (frames of type
// arch): systemstack, mcall and morestack (goroutine to the thread's own stack),
// asmcgocall (Go to C), cgocallback (C to Go).
//
// What a function of assembly does with its stack, and where the runtime's structs g and m
// have what, is read off its code (follow, solve): releases of Go from 1.17 on, on amd64
// and arm64; on s390x without C.
package gostack
