// Package separate makes the files that hold an SFrame section apart from the
// program that it describes, as .debug files hold debug information.
//
// In go an ELF file and [sframe.Contents] about it; out comes a small ELF file
// with the program's build ID and the section, which binutils read, too. Such
// files are found by build ID: a folder has them under .build-id/ab/cdef….sframe,
// or under ab/cdef….sframe.
package separate
