package descriptors

import (
	"golang.org/x/sys/unix"
)

// status returns what is known of the file to which a descriptor's link leads, without asking a
// server for it that may be gone.
func status(path string) (s unix.Statx_t, ok bool) {
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &s)
	return s, err == nil
}

func isFIFO(path string) bool {
	s, ok := status(path)
	return ok && s.Mode&unix.S_IFMT == unix.S_IFIFO
}

// identity returns device, as major number in the upper and minor in the lower half, and inode.
func identity(path string) (dev, inode uint64, ok bool) {
	s, ok := status(path)
	return uint64(s.Dev_major)<<32 | uint64(s.Dev_minor), s.Ino, ok
}

// protocolOf returns the name of a socket's protocol, as the kernel has it (sockfs_xattr_handler in
// net/socket.c): "TCP", "TCPv6", "UNIX"; "" if it does not say.
func protocolOf(path string) string {
	b := make([]byte, 64)
	n, err := unix.Getxattr(path, "system.sockprotoname", b)
	if err != nil || n < 1 || n > len(b) {
		return ""
	}
	return unix.ByteSliceToString(b[:n])
}
