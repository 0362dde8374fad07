// Package goroutine lists the goroutines of a Go program from outside: of a process, a core file,
// or any other target. It needs only the program's memory and code, no debug information and no
// symbols.
//
// [Find] finds the runtime of a target, and [Runtime.All] lists its goroutines. A process may have
// several runtimes, one for each library that is built as c-shared: [FindAll] finds all. Each
// goroutine has its number, state, stack, and the registers with which it was parked. Package frame
// unwinds its stack like a thread's.
//
// The runtime's own code and memory tell where it keeps its goroutines. Functions that all releases
// have refer to the list. Functions that change stacks show the layout of a struct g. The package
// finds other fields by their contents. No release is hard-coded. The package believes a layout
// only if all of it agrees. It knows the releases of Go from 1.17 on, on amd64, arm64 and s390x.
//
// If the target stands still (a core file, a stopped process), a list is of one moment. If the
// process runs on, each goroutine is as it was when it was read, and some may be missing.
package goroutine
