// Package sysroot finds the files of a target that is not a process of this
// machine (a core file's, a remote stub's): below a sysroot folder, by a path
// that the user gave for the program, or through the stub itself.
//
// It takes paths as the target has them, and where they are mapped. It returns a [target.Module]
// for each, with the image of the file that was mapped and no other. It compares each file with the
// target's memory: by the build ID or, without one, by the dynamic section and the addresses of
// code in the file's data. If the file is another one, or missing, it reads the image from memory,
// and warns the user.
package sysroot
