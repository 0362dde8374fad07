//go:build linux

// Package walk measures the cost of one frame of a walk: by frame.Walker and frame.Stack, framehop,
// and libunwind, on the same stack.
//
// target/live captures a live process's stack into a file: registers, modules and bytes (Capture).
// frame and framehop walk the stack in the file. libunwind needs a process: it walks the same
// functions, just as deep, from inside, and the captured process itself by ptrace.
package walk
