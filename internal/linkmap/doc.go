// Package linkmap finds what a process has loaded, for targets that tell no
// list of mappings: a core file without NT_FILE, a simple remote stub.
//
// What enters: the process's memory, its auxiliary vector (what the kernel told
// the program at its start) and, where memory lacks them, the program's headers
// from its file. What leaves: one [Object] for each loaded ELF file, with its
// load bias: the program, the dynamic linker, the vDSO, and the libraries that
// the dynamic linker keeps in its link map (the r_debug protocol of
// <link.h>, which debuggers follow).
//
// Nothing that is read is trusted: lists are bounded, and what cannot be read is
// left out.
package linkmap
