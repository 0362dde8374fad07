// Package goroutine lists the goroutines of a Go program from outside, by its memory and code
// alone: without debug information or symbols, of a process, a core file, or whatever else
// is a target.
//
// Enters: a target. Leaves: its goroutines, each with its number, state, stack, and the
// registers with which it was parked, which make it a thread for package frame. Where the
// runtime keeps them, its own code and memory tell: functions that it has had in all releases
// refer to the list, functions that change stacks show where a struct g has what, and the rest
// is found by what it says. No release is hard-coded; what is found is believed only where all
// of it agrees. Releases of Go from 1.17 on, on amd64, arm64 and s390x.
//
// A list is of one moment where the target stands still: a core file, a stopped process. Of
// a process that runs on, each goroutine is as it was when it was read, and some may be missing.
package goroutine
