// Package i386 describes the 32-bit x86 architecture with the System V ABI, as Linux runs it:
// registers, stack rules, reading prologues and epilogues from machine code, and the
// trampolines that end signal handlers.
//
// Import it to make the descriptor known to package arch.
package i386
