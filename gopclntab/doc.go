// Package gopclntab reads the table that the Go linker writes for the runtime. For every
// address of a Go program's code, the table has the function, the stack pointer's distance from
// the frame's end, file and line, and the calls inlined there. Every Go binary has it, also one
// without DWARF and without symbols (-ldflags="-s -w").
//
// Enters: the table's bytes, and the address that its functions are relative to.
// Leaves: [Func], with its name, stack pointer deltas, lines, inlined calls. The table
// is used where it lies: opening it takes a look at its header, finding a function
// a binary search. Nothing is allocated but names and lists of inlined calls.
//
// The package reads the versions of Go 1.2, 1.16, 1.18 and 1.20, in both byte orders, for 32
// and 64 bits. It trusts nothing: each offset is checked, each loop bounded.
//
// The format's only specification is the linker (cmd/link/internal/ld/pcln.go) and the
// runtime (symtab.go, symtabinl.go, struct _func in runtime2.go); its idea is in
// https://go.dev/s/go12symtab. The package imports nothing of this module.
package gopclntab
