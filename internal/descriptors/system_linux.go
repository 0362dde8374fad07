package descriptors

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// folder is a folder that is held open, by its descriptor.
type folder int

// noFolder has files by their paths.
const noFolder folder = unix.AT_FDCWD

// openFolder opens a folder for what is in it; the result is noFolder if that fails.
func openFolder(path string) folder {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return noFolder
	}
	return folder(fd)
}

func (f folder) close() {
	if f != noFolder {
		unix.Close(int(f))
	}
}

// place is a file by its name in a folder.
type place struct {
	in   folder
	name string
}

// link returns where a link leads.
func (p place) link() (string, error) {
	var few [128]byte
	for b := few[:]; ; b = make([]byte, 32*len(b)) { // the second time the kernel's PATH_MAX
		n, err := unix.Readlinkat(int(p.in), p.name, b)
		if err != nil || n < len(b) || len(b) > len(few) {
			return string(b[:max(n, 0)]), err
		}
	}
}

// read returns at most the first most bytes of a file; nil if it cannot be read.
func (p place) read(most int) (text []byte) {
	fd, err := unix.Openat(int(p.in), p.name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var b [4096]byte
	for len(text) < most {
		n, err := unix.Read(fd, b[:min(len(b), most-len(text))])
		if n <= 0 || err != nil {
			return text
		}
		text = append(text, b[:n]...)
	}
	return text
}

// access reports what one may do with a descriptor: its link's mode says so.
func (p place) access() (reads, writes, ok bool) {
	var s unix.Stat_t
	if err := unix.Fstatat(int(p.in), p.name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil || s.Mode&unix.S_IFMT != unix.S_IFLNK {
		return false, false, false
	}
	return s.Mode&0o400 != 0, s.Mode&0o200 != 0, true
}

// status returns what is known of the file to which a descriptor's link leads, without asking a
// server for it that may be gone.
func (p place) status() (s unix.Statx_t, ok bool) {
	err := unix.Statx(int(p.in), p.name, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &s)
	return s, err == nil
}

func (p place) isFIFO() bool {
	s, ok := p.status()
	return ok && s.Mode&unix.S_IFMT == unix.S_IFIFO
}

// identity returns device, as major number in the upper and minor in the lower half, and inode.
func (p place) identity() (dev, inode uint64, ok bool) {
	s, ok := p.status()
	return uint64(s.Dev_major)<<32 | uint64(s.Dev_minor), s.Ino, ok
}

// protocol returns the name of a socket's protocol, as the kernel has it (sockfs_xattr_handler in
// net/socket.c): "TCP", "TCPv6", "UNIX"; "" if it does not say.
func (p place) protocol() string {
	path := p.name
	if p.in != noFolder {
		path = "/proc/self/fd/" + strconv.Itoa(int(p.in)) + "/" + path
	}
	b := make([]byte, 64)
	n, err := unix.Getxattr(path, "system.sockprotoname", b)
	if err != nil || n < 1 || n > len(b) {
		return ""
	}
	return unix.ByteSliceToString(b[:n])
}

// shareFiles reports whether a process's first thread and another thread have the same
// descriptors; false if the kernel does not say (kcmp(2)).
func shareFiles(pid, tid int) bool {
	const files = 2 // KCMP_FILES
	if pid == tid {
		return true
	}
	order, _, err := unix.RawSyscall6(unix.SYS_KCMP, uintptr(pid), uintptr(tid), files, 0, 0, 0)
	return err == 0 && order == 0
}
