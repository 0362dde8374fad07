// Package separate makes separate SFrame files. Such a file holds the SFrame section of a program,
// as .debug files hold debug information.
//
// [Encode] takes an ELF file and [sframe.Contents] about it. It makes a small ELF file with the
// program's build ID and the section; binutils can read it, too. Such files are found by build ID:
// a folder has them under .build-id/ab/cdef….sframe, or under ab/cdef….sframe.
package separate
