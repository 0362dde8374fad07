// Package elffile guards debug/elf against hostile files: it tells how many bytes of a file are really
// there, and checks section headers before debug/elf believes them. It also reads program headers that e_phnum
// cannot count (PN_XNUM), which debug/elf leaves out before Go 1.27.
package elffile
