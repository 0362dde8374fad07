package sectioncache

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/symbol"
)

// coarse is how far apart two changes of a file can be and have the same time, by the clocks of
// file systems.
const coarse = 2 * time.Second

// keyOf returns what a section is, in text; ok is false if nothing must be kept of its file.
// settled reports whether, at the time now, the file was left alone for so long that its next
// change will have a later time.
func keyOf(s symbol.CompressedSection, now time.Time) (key string, settled, ok bool) {
	st := record(s.File)
	if st == nil || st.Uid != 0 && st.Uid != uint32(os.Geteuid()) {
		return "", false, false
	}
	boot := "-"
	if unix.Major(uint64(st.Dev)) == 0 { // after the next boot, such devices have other numbers
		if boot = usercache.Boot(); boot == "" || madeUp(s.File) {
			return "", false, false
		}
	}
	key = fmt.Sprintf("device %d boot %s inode %d size %d written %d.%09d changed %d.%09d section %s at %d packed %d inflated %d",
		st.Dev, boot, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec, s.Name, s.Offset, s.Packed, s.Size)
	return key, now.Sub(time.Unix(st.Ctim.Unix())) >= coarse, true
}

// record returns the file system's record of a regular file; nil if it is none.
func record(f *os.File) *syscall.Stat_t {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	return st
}

// madeUp reports whether a user's program may have made up the record of a file.
func madeUp(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return true
	}
	var of unix.Statfs_t
	failed := raw.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &of) })
	return failed != nil || err != nil || of.Type == unix.FUSE_SUPER_MAGIC
}
