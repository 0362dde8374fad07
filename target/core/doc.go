// Package core makes a target of an ELF core file: a dead Linux process of any supported
// architecture, on any host.
//
// It takes the file that the kernel, gdb's generate-core-file or qemu's user emulation has written,
// whole or cut short, also compressed by zstd, xz or lz4; and the folder that has the process's own
// files. It gives a [Target] with the threads, the one that died first, the signal, the modules and
// the memory. Memory has the core's own bytes. For what the core leaves out, it has the bytes of
// the mapped files, if they are the same files.
//
// Nothing in the file is trusted. The file's size bounds what is read of it. An error, or
// [Target.Warnings], says what is missing or broken.
package core
