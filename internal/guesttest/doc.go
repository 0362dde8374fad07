// Package guesttest holds the unwinding of arm64 and s390x stacks against gdb,
// on programs (guests) that run under qemu's user-mode emulation.
//
// Enters: a program of testdata/guests, or of testdata/progs/guest and a cross
// compiler's flags. Leaves: the guest stopped in each of its scenarios, with
// gdb-multiarch's view of every frame, and qemu's debugging stub to be used at
// that very stop by somebody else (Each): gdb waits meanwhile; or a core file
// of it; or the frames at each instruction of a set of functions (Steps).
//
// As in gdbtest, nothing here computes an expected value, and a test whose
// tools are missing is skipped, or fails where tools are required.
package guesttest
