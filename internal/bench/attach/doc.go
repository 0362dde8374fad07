//go:build linux

// Package attach measures whole commands on live processes: what sfwalk, eu-stack and
// gdb take to print every thread's stack, and for how long threads of the process
// are held.
//
// What enters is a folder for programs; a report.Section leaves. Each process is
// started twice: the second one ticks (package process), and takes time of its own.
package attach
