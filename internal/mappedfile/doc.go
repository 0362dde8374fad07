// Package mappedfile opens the files that a process of this machine has mapped: the very files, and
// no others that have their paths by now.
//
// In goes a process's folder in /proc with its memory, and a file of its maps. Out comes the open
// file, or the image that is made of it or of the process's memory.
package mappedfile
