// Package goroutine lists the goroutines of a Go program from outside: of a process, a core file,
// or any other target. It needs only the program's memory and code, no debug information and no
// symbols.
//
// Enters: a target. Leaves: its goroutines, each with its number, state, stack, and the
// registers with which it was parked. Package frame walks them like a thread's. The runtime's
// own code and memory tell where it keeps its goroutines: functions that all releases have refer to
// the list, functions that change stacks show the layout of a struct g, and other fields are found
// by their contents. No release is hard-coded. A layout is believed only if all of it agrees.
// Releases of Go from 1.17 on are known, on amd64, arm64 and s390x.
//
// If the target stands still (a core file, a stopped process), a list is of one moment. If the
// process runs on, each goroutine is as it was when it was read, and some may be missing.
package goroutine
