// Package fromcfi says in SFrame's terms what a file's DWARF call frame
// information says.
//
// In goes an ELF file with .eh_frame or .debug_frame; out come its lines as
// [sframe.Row]s ([Source.Rows]), or as [sframe.Contents] to be encoded
// ([Source.Contents]). DWARF can say more than SFrame: expressions are run on
// made-up registers and taken where they come to one of SFrame's forms (frames
// that are addressed through a register, linkage stubs); a function with a line
// that SFrame has no form for is left out, with the reason, as an assembler
// does that writes SFrame.
//
// The file is never trusted. Work and memory are bounded by its size, but for
// expressions that depend on the PC, of which a fixed number is evaluated.
package fromcfi
