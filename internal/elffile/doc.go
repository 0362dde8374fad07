// Package elffile reads the headers of ELF files that are not trusted: it tells how many bytes of a
// file are really there, and checks section headers before they are believed. It also reads program
// headers that e_phnum cannot count (PN_XNUM), which debug/elf leaves out before Go 1.27, and
// guards debug/elf, where that reads a file.
package elffile
