// Package elffile stands before debug/elf, for files that somebody may have made to hurt: it
// tells what of a file is there at all, and looks at section headers before debug/elf believes
// them.
package elffile
