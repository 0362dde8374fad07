// Package verify compares a file's SFrame sections with its DWARF call frame
// information.
//
// In goes an ELF file; out comes a [Result]: each stretch of code that both cover
// and disagree about, how much of the text each covers, and their sizes. Compared
// are the rules of CFA, RA and FP, signed return addresses and their key, outermost
// frames and, in V3, signal frames. Code that only one side covers counts in the
// coverage, and is no disagreement.
//
// DWARF is taken for the truth: assemblers before binutils 2.46 write rows
// without the CFA or RA in a register that their version cannot name, and
// linkers describe stubs of .plt.sec and .plt.got as if they were of .plt.
//
// Both sides are walked once, in ascending order of address. Neither is trusted:
// what cannot be read is listed and left out, and work is bounded by the file's
// size plus a constant.
package verify
