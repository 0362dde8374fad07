//go:build linux

// Package attach measures whole commands on live processes: the cost of sfwalk, eu-stack and gdb to
// print every thread's stack, and how long threads of the process are held.
//
// Measure takes a folder for programs and returns a report.Section. Each process is started twice:
// the second one ticks (package process), which costs time of its own.
package attach
