// Package core makes a target of an ELF core file: a dead Linux process of any
// supported architecture, on any host.
//
// What enters: the file that the kernel, gdb's generate-core-file or qemu's user
// emulation has written, whole or cut short, also compressed by zstd or xz; and
// where the process's own files are. What leaves: a [Target] with the threads,
// the one that died first, the signal, the modules, and the memory: the core's
// own bytes, and for what it leaves out those of the files that were mapped, if
// they are the same files.
//
// Nothing in the file is trusted: what it holds is bounded by its size, and what
// is missing or broken is said, in an error or in [Target.Warnings].
package core
