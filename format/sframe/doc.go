// Package sframe reads and writes the SFrame stack trace format: versions 1, 2
// (with errata 1 and 2) and 3, in either byte order, for AMD64, AArch64 and
// s390x.
//
// Reading. [Open] takes the bytes of an .sframe section (or of a PT_GNU_SFRAME segment, which may
// be longer) and the section's link-time address. [OpenParts] does so if a linker has only put the
// sections of its inputs one behind the other. The [Section] gives FDEs, FREs and, for a PC, the
// [Row] that says where THIS's CFA and return address and PREVIOUS's FP are. Registers are DWARF
// register numbers of the ABI. Addresses are link-time addresses: a caller that looks at a process
// subtracts the load bias first.
//
// The section is used in place. Open checks the header and keeps the slice. Only the first Find
// allocates: at most 16 KiB, or the index of a section whose FDEs are not sorted. [OpenPages] takes
// the bytes of a file: a look-up reads the pages that it needs, and the Section keeps them. Many
// goroutines may use a Section at once. Its bytes are never trusted: each field is checked when it
// is read, and a field that contradicts the format gives a FormatError.
//
// Writing. [Contents] are functions and their rows, without a layout. They come from a section
// ([Section.Contents]), from several ([Join]), from another version ([Contents.Convert]), or from a
// generator. [Contents.Encode] turns them into the bytes of a section, in the smallest form. It
// returns an EncodeError for Contents that the version cannot hold.
//
// docs/sframe.md explains the format. Beside the standard library, the package depends on
// format/pages alone.
package sframe
