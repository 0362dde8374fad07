// Package jitdump reads the files in which compilers at run time write down their code for Linux's
// perf: jit-PID.dump (tools/perf/Documentation/jitdump-specification.txt, version 1), as V8, LLVM
// and perf's agent for Java write them.
//
// In goes a file that its process may still be writing. Out come its records; or what code there
// was at an address at a time, with name, lines and unwind table, also as an ELF file.
package jitdump
