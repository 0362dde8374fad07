package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a new file that has no name yet. It returns nil if the file system of dir has
// no such files, or if they could get no name later.
func openUnnamed(dir string, perm os.FileMode) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm))
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), dir)
	if _, err := os.Stat(nameOfOpen(f)); err != nil { // no /proc
		f.Close()
		return nil
	}
	return f
}

func nameOfOpen(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// giveName gives the file a temporary name.
func (f *Saving) giveName() error {
	name := filepath.Join(filepath.Dir(f.to), fmt.Sprintf(".%s-%x", filepath.Base(f.to), rand.Uint64()))
	if err := unix.Linkat(unix.AT_FDCWD, nameOfOpen(f.Tmp), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	f.name = name
	return nil
}
