// Package goruntime reads the code of the Go runtime's few assembly functions. No table describes
// what they do with their stacks.
//
// [Open] returns the [Program] of a module with Go code. [Program.Previous] says where a function of
// assembly has left its caller's registers. [Program.Layout] returns the [Layout] of the runtime's
// structs g and m. The package follows the code (follow) and describes each value by an expression
// over the registers that the function began with. It finds PREVIOUS's registers among these values
// (solve). It knows the releases of Go from 1.17 on, on amd64 and arm64; on s390x without C.
package goruntime
