package symbolstore

import (
	"os"
	"syscall"
)

// stampOf returns the stamp of a file; ok is false if the system has none.
func stampOf(info os.FileInfo) (s stamp, ok bool) {
	x, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return stamp{uint64(x.Dev), x.Ino, x.Size, info.ModTime().UnixNano(), x.Ctim.Nano()}, true
}
