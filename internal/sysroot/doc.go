// Package sysroot finds the files of a target that is not a process of this
// machine (a core file's, a remote stub's): below a sysroot folder, by a path
// that the user gave for the program, or through the stub itself.
//
// What enters: paths as the target has them, and where they are mapped. What
// leaves: a [target.Module] for each, whose image is the file that was mapped
// and no other: it is held against the target's memory, by its build ID or, for
// want of that, by its dynamic section and the addresses of code in its data.
// Where it is another, or there is none, the image is read from memory, and the
// user is told.
package sysroot
