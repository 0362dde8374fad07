// Package fromelf writes Breakpad's symbol file (package breakpad) of an ELF file: what Breakpad's
// dump_syms writes, from the file's symbol tables, DWARF 2 to 5 and call frame information; of
// 32-bit Arm, also from exception tables (.ARM.exidx).
//
// [Open] reads a file and what belongs to it: a separate debug file, split DWARF (.dwo, .dwp), a
// supplementary file (dwz). [Dump.WriteTo] writes the symbol file. Units are read by all processors
// at once; a function is kept in a few bytes for each line until it is written, in the order of
// addresses.
//
// Where dump_syms leaves something out or is wrong, this package writes what is right.
// [Options.LikeDumpSyms] has it err alike, to compare the two; docs/symbol-files.md has the list.
//
// Nothing in a file is trusted. What cannot be read costs itself and a warning. Memory and time are
// bounded by the size of the file.
package fromelf
