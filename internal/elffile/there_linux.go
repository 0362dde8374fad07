package elffile

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileSystems bounds how much smaller than a file its room on disk may be where the file system
// compresses files.
const fileSystems = 8

// allocated returns how many bytes of a file are not holes, by the file system's account.
func allocated(f *os.File, info os.FileInfo) int64 {
	size := info.Size()
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Blocks == 0 || st.Blocks*512 >= size { // some report 0 blocks for every file
		return size
	}
	data := extents(f, size)
	if data == size { // there are no holes, or the file system cannot tell
		return min(size, fileSystems*st.Blocks*512)
	}
	return data
}

// extents adds up the parts of a file that are not holes. The file's offset stays as it is.
func extents(f *os.File, size int64) (data int64) {
	before, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return size
	}
	defer f.Seek(before, io.SeekStart)
	const most = 1 << 16 // parts that are counted
	at := int64(0)
	for range most {
		lo, err := f.Seek(at, unix.SEEK_DATA)
		if err != nil || lo >= size {
			if err != nil && at == 0 {
				return size
			}
			return data
		}
		hi, err := f.Seek(lo, unix.SEEK_HOLE)
		if err != nil || hi <= lo {
			return size
		}
		data, at = data+min(hi, size)-lo, hi
	}
	return data + size - at
}

// Own reports whether a file belongs to root or to this program's user.
func Own(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Geteuid())
}

// fileIdentity tells files apart, and a file from itself before a write.
func fileIdentity(_ *os.File, info os.FileInfo) (id any, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return [5]uint64{uint64(st.Dev), uint64(st.Ino), uint64(st.Size), uint64(st.Mtim.Sec), uint64(st.Mtim.Nsec)}, true
}
