// Package snapshot keeps a copy of a process as a value: all that unwinding needs, taken at one
// moment, to be walked later or elsewhere.
//
// A live target fills in a [Snapshot]. [Snapshot.Write] writes it as an ELF core file that gdb can
// open, with one note of our own for what a core file cannot say (docs/snapshot.md describes it).
// [Open] makes a [Target] of such a file, with the same threads, memory and modules, on any host.
//
// Nothing in a file is trusted. An error, or the target's warnings, says what is broken or missing.
package snapshot
