// Package elffile guards debug/elf against hostile files: it tells how many bytes of a file are really
// there, and checks section headers before debug/elf believes them.
package elffile
