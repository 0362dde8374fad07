//go:build linux

// Package walk measures what one frame of a walk costs: frame.Walker and frame.Stack,
// framehop, and libunwind, on the same stack.
//
// A live process's stack is captured by target/live into a file: registers, modules,
// and bytes (Capture). frame and framehop walk what is in the file. libunwind needs a
// process: the same functions, just as deep, that unwind themselves; and the captured
// process itself, by ptrace.
package walk
