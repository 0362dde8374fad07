// Package cfi reads DWARF call frame information. It turns a .eh_frame or .debug_frame
// section into [trad.Row]s.
//
// A [Section] is used in place. [Open] checks its arguments and the
// .eh_frame_hdr, nothing more. [OpenPages] does so for bytes of a file: a look-up
// reads the pages that it needs, and the Section keeps them. [Section.Find] searches
// the header's table in place; without a usable table the first look-up builds a
// sorted index.
// [Section.Row] runs the program of one FDE up to the PC and returns that line of
// the table, with the exact range that it holds for.
//
// Addresses are in the section's own address space. The address given to [Open] fixes it: link-time
// addresses for a file, run-time ones for a section read from memory. The package never trusts its
// input. Malformed input gives an [Error] that says where, and the size of the section bounds the
// work.
//
// References: DWARF 5 section 6.4, LSB Core "Exception Frames", AADWARF64.
package cfi
