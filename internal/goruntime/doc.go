// Package goruntime reads the code of the Go runtime's few assembly functions, for which no table
// says what they do with their stacks.
//
// Enters: a module with Go code. Leaves: a [Program], which says how a function of assembly has
// left its caller's registers ([Program.Previous]), and the [Layout] of the runtime's structs
// g and m. The package follows the code (follow), by expressions over the registers
// that a function began with, and finds PREVIOUS's registers among them (solve). It knows the
// releases of Go from 1.17 on, on amd64 and arm64; on s390x without C.
package goruntime
