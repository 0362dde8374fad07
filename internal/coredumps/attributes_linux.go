package coredumps

import (
	"os"

	"golang.org/x/sys/unix"
)

// mostAttribute bounds the bytes of an attribute that are read: a path has fewer.
const mostAttribute = 8 << 10

// openCore opens a file for its attributes. A link, or a file that one waits for, is not opened.
func openCore(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// attribute returns an extended attribute user.coredump.NAME, or "".
func attribute(f *os.File, name string) string {
	var text [mostAttribute]byte
	n, err := unix.Fgetxattr(int(f.Fd()), "user.coredump."+name, text[:])
	if err != nil || n < 0 {
		return ""
	}
	return string(text[:n])
}
