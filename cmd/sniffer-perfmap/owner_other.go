//go:build !unix

package main

import "io/fs"

const nonBlocking = 0

// ownedBy reports whether a file belongs to one of the users: there are no such here.
func ownedBy(fs.FileInfo, ...int) bool { return true }
