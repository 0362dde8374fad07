// Package trust opens files so that no other user can exchange them: it follows a path once, one
// step at a time, and holds the file that the path leads to. It also finds out who beside root and
// the user may change the file, or put another in its place: by the owner, mode and access control
// list of the file, of each folder on the way, and of each symbolic link.
package trust
