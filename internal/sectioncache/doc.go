// Package sectioncache keeps what compressed sections of debug information were inflated to, from
// one run of the command to the next, below the user's cache folder.
//
// It implements [symbol.Inflated]. In goes a section of an open file; out come its inflated bytes,
// read and checked block by block.
//
// A file of the cache belongs to one section of one state of one file: its device, inode, size, and
// the times of the last write and the last change, which no program can set back. So a file that
// claims another one's build ID has no part in that one's sections. Nothing is kept of files that
// belong to anybody but root and the user, or of file systems that a user's program may have made
// up (FUSE). The folder and its files count only if they are the user's own, and nobody else can
// write to them.
//
// What cannot be read or written is left out, without an error: the cache costs time alone.
package sectioncache
