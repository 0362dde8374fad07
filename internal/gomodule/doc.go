// Package gomodule finds the Go function table of a module and keeps it with the module.
//
// In goes a module of a target. Out comes its table, open, with the address that functions
// are relative to and the trees of inlined calls; or, as quickly, an error that it has none.
// The table is found also in files without symbols, without section headers, position
// independent, or linked by another linker than Go's, and in memory: the runtime's own
// description of the module (struct moduledata) points to it and tells the rest.
// The table is believed only where moduledata agrees with it, and both agree with the
// file's executable segments.
package gomodule
