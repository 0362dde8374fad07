// Package fromcfi translates a file's DWARF call frame information to SFrame.
//
// In goes an ELF file with .eh_frame or .debug_frame; out come its lines as
// [sframe.Row]s ([Source.Rows]), or as [sframe.Contents] to be encoded
// ([Source.Contents]). DWARF can say more than SFrame. Expressions are run on
// made-up registers, and translated where the result is one of SFrame's forms (frames
// that are addressed through a register, linkage stubs). A function with a line
// that SFrame has no form for is left out, with the reason, as by an assembler
// that writes SFrame.
//
// The file is never trusted. Work and memory are bounded by its size. Only
// expressions that depend on the PC are evaluated more often, up to a fixed number.
package fromcfi
