//go:build unix

package main

import (
	"io/fs"
	"slices"
	"syscall"
)

// nonBlocking keeps the opening of a FIFO from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK

// ownedBy reports whether a file belongs to one of the users.
func ownedBy(info fs.FileInfo, users ...int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && slices.Contains(users, int(stat.Uid))
}
