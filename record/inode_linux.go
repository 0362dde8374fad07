package record

import (
	"os"
	"syscall"
)

// inode returns the number of a file on its file system.
func inode(info os.FileInfo) (number uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ino, true
}
