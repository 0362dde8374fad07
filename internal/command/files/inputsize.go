package files

import (
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// OnDisk returns what a target's file takes up on disk, bytes; 0 if it cannot be opened.
func OnDisk(path string) int64 {
	f, err := regular.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return elffile.There(f, info.Size())
}
