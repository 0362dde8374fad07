// Package gopclntab reads the table that the Go linker writes for the runtime. For every
// address of a Go program's code, the table has the function, the stack pointer's distance from
// the frame's end, file and line, and the calls inlined there. Every Go binary has it, also one
// without DWARF and without symbols (-ldflags="-s -w").
//
// [Open] takes the table's bytes, and the address that its functions are relative to. A [Func]
// has a name, stack pointer deltas, lines and inlined calls. The package uses the table in place.
// Open reads little more than the header; finding a function is a binary search. Only names and
// lists of inlined calls are allocated.
//
// The package reads the versions of Go 1.2, 1.16, 1.18 and 1.20, in both byte orders, for 32
// and 64 bits. It trusts nothing: it checks each offset and bounds each loop.
//
// The format's only specification is the linker (cmd/link/internal/ld/pcln.go) and the
// runtime (symtab.go, symtabinl.go, struct _func in runtime2.go). https://go.dev/s/go12symtab
// explains its idea. The package imports nothing of this module.
package gopclntab
