// Package delvetest makes the programs and processes on which this module's Delve is
// tested: goroutines in all states (testdata/progs/delvego), and cgo whose C half nobody
// but SFrame knows how to unwind (testdata/progs/delvecgo).
//
// Enters: a program's name and flags. Leaves: the program, built and kept as gdbtest keeps
// its own; or a process of it, or a core, with Delve on it.
package delvetest
