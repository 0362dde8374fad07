// Package sframeverify compares a file's SFrame sections with its DWARF call frame
// information.
//
// [File] takes an ELF file and returns a [Result]. It has each stretch of code that both sides
// cover and disagree about, how much of the text each side covers, and their sizes. The comparison
// covers the rules of CFA, RA and FP, signed return addresses and their key, outermost frames and,
// in V3, signal frames. Code that only one side covers counts in the coverage, and is no
// disagreement.
//
// DWARF is taken for the truth. If the CFA or RA is in a register that their version cannot name,
// assemblers before binutils 2.46 write the row without it. Linkers describe stubs of .plt.sec and
// .plt.got as if they were of .plt.
//
// Both sides are walked once, in ascending order of address. Neither is trusted: parts that cannot
// be read are listed and left out, and the file's size plus a constant bounds the work.
package sframeverify
