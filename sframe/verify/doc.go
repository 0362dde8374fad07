// Package verify holds a file's SFrame sections against its DWARF call frame
// information.
//
// In goes an ELF file; out comes a [Result]: each stretch of code where both
// speak and do not say the same, how much of the text each covers, and what
// they weigh. Compared are the rules of CFA, RA and FP, signed return addresses
// and their key, outermost frames and, in V3, signal frames. Code of which one
// side says nothing is a matter of coverage and no disagreement.
//
// DWARF is taken for the truth: assemblers before binutils 2.46 write rows
// without the CFA or RA in a register that their version cannot name, and
// linkers describe stubs of .plt.sec and .plt.got as if they were of .plt.
//
// Both sides are walked once, in ascending order of address. Neither is trusted:
// what cannot be read is listed and left out, and work is bounded by the file's
// size plus a constant.
package verify
