// Package sframe reads and writes the SFrame stack trace format: versions 1, 2
// (with errata 1 and 2) and 3, in either byte order, for AMD64, AArch64 and
// s390x.
//
// Reading. In go the bytes of an .sframe section (or of a PT_GNU_SFRAME segment, which
// may be longer) and the section's link-time address; out come FDEs, FREs and,
// for a PC, the Row that says where PREVIOUS's CFA, RA and FP are. Registers
// are DWARF register numbers of the ABI; addresses are link-time addresses,
// so a caller that looks at a process subtracts the load bias first.
//
// The section is used where it lies. Open checks the header and keeps the
// slice; Find allocates nothing. Only the first look-up does: 16 KiB at most, or
// the index of a section whose FDEs are not sorted. A Section may be used by
// many goroutines at once, and its bytes are never trusted: each field is
// checked when it is read, and what contradicts the format is a FormatError.
//
// Writing. Contents are functions and their rows, free of layout: those of a
// section ([Section.Contents]), of several ([Join]), of another version
// ([Contents.Convert]), or a generator's own. [Contents.Encode] makes them the
// bytes of a section, in the smallest form; what the version cannot hold is an
// EncodeError.
//
// docs/sframe.md explains the format. The package depends on the standard
// library alone.
package sframe
