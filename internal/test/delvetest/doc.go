// Package delvetest makes the programs and processes on which this module's Delve is
// tested: goroutines in all states (testdata/progs/delvego), and cgo whose C half only
// SFrame describes (testdata/progs/delvecgo).
//
// In go a program's name and flags. Out comes the program, built and kept as gdbtest keeps
// its own; or a process of it, or a core file, opened in Delve.
package delvetest
