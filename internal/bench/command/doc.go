//go:build linux

// Package command runs a command and measures its cost.
//
// Linux counts the memory of the parent, up to the exec, as the child's. So not this program but a
// small one (internal/bench/programs/run.c) starts the command: the floor is the memory of that
// program, about 1 MiB.
package command
