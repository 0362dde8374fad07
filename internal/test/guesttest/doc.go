// Package guesttest compares unwound stacks of arm, arm64, i386 and s390x with gdb's, on
// programs (guests) that run under qemu's user-mode emulation.
//
// In goes a program of testdata/guests, or one of testdata/progs/guest with a cross
// compiler's flags. Out comes the guest, stopped in each of its scenarios, with
// gdb-multiarch's view of every frame, and with qemu's debugging stub, which the
// test can use at that very stop while gdb waits (Each); or a core file of the
// guest; or the frames at each instruction of a set of functions (Steps).
//
// As in gdbtest, nothing here computes an expected value, and a test whose
// tools are missing is skipped, or fails where tools are required.
package guesttest
