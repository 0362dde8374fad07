package sectioncache

import (
	"os"

	"golang.org/x/sys/unix"
)

// free returns how many bytes the user may still write to the file system of a folder.
func free(root *os.Root) int64 {
	var of unix.Statfs_t
	if unix.Statfs(root.Name(), &of) != nil {
		return 0
	}
	return int64(min(of.Bavail, 1<<40)) * int64(of.Bsize)
}
