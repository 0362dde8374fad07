// Package fromcfi translates a file's DWARF call frame information to SFrame.
//
// [Open] takes an ELF file with .eh_frame or .debug_frame. [Source.Rows] gives its lines as
// [sframe.Row]s, [Source.Contents] as [sframe.Contents] to be encoded.
//
// DWARF can say more than SFrame. Expressions are run on made-up registers, and translated if the
// result is one of SFrame's forms (frames that are addressed through a register, linkage stubs). A
// function with a line that SFrame has no form for is left out, with the reason. Assemblers that
// write SFrame leave it out, too.
//
// The file is never trusted: its size bounds work and memory. Only expressions that depend on the
// PC are evaluated more often, up to a fixed number.
package fromcfi
