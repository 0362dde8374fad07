//go:build linux

// Package plugin measures what a third-party sniffer costs, which is a process of its own:
// its start, one question, a frame of a deep stack, and a whole attach.
//
// The plug-in (sniffer-jit) knows the machine code of internal/bench/programs/jit.c, which nobody
// else here can unwind, and whose frames take turns with those of a compiler's functions.
package plugin
