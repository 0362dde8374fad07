// Package goroutine lists the goroutines of a Go program from outside: of a process, a core file,
// or any other target. It needs the program's memory and code alone, no debug information or
// symbols.
//
// Enters: a target. Leaves: its goroutines, each with its number, state, stack, and the
// registers with which it was parked, which make it a thread for package frame. The runtime's
// own code and memory tell where it keeps them: functions that all releases have refer to the
// list, functions that change stacks show the layout of a struct g, and other fields are found
// by their contents. No release is hard-coded; a layout is believed only if all of it agrees.
// Releases of Go from 1.17 on are known, on amd64, arm64 and s390x.
//
// A list is of one moment if the target stands still: a core file, a stopped process. Of
// a process that runs on, each goroutine is as it was when it was read, and some may be missing.
package goroutine
