// Package gomodule finds the Go function table of a module and keeps it with the module.
//
// Enters: a module of a target. Leaves: its table, open, with the address that functions
// are relative to and the trees of inlined calls; or, as quickly, that it has none. The
// table is found also in files without symbols, without section headers, position
// independent, linked by another linker than Go's, and in memory: the runtime's own
// description of the module (struct moduledata) points to it and says the rest.
// What is found is believed only where it agrees: moduledata with the table, and both
// with the file's executable segments.
package gomodule
