//go:build linux

// Package command runs a command and says what it took.
//
// Linux counts the memory that the parent had, up to the exec, as the child's. A
// command is therefore started by a small program (internal/bench/programs/run.c) and not by
// this one: the floor is the memory of that program, about 1 MiB.
package command
