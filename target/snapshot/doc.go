// Package snapshot is the picture of a process as a value: what unwinding needs
// of it, taken at one moment, to be walked later, elsewhere.
//
// What enters: a [Snapshot], which a live target fills in, or a file that one was
// written to. What leaves: that file, an ELF core file that gdb can open, with
// one note of our own for what a core file cannot say (docs/snapshot.md describes
// it); and, from [Open], a [Target] with the same threads, memory and modules, on
// any host.
//
// Nothing in a file is trusted: what is broken or missing is said, in an error or
// in the target's warnings.
package snapshot
