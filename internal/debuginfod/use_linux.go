package debuginfod

import (
	"io/fs"
	"syscall"
	"time"
)

// lastUse returns when a file was last used.
func lastUse(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Atim.Unix())
	}
	return info.ModTime()
}
