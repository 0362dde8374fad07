// Package trust opens files so that nobody else can exchange them: a path is followed once, one
// step at a time, and what it leads to is held. It says who else than root and the user may have
// a hand in a file: by owner, mode and access control list of the file, of each folder on the way,
// and of each symbolic link.
//
// What enters is a path; what leaves is a file to be read or run.
package trust
