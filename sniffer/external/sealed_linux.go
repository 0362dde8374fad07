package external

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/trust"
)

// largest is the largest program that is copied, in bytes.
const largest = 256 << 20

// sealed returns a copy of a file in memory. It can be run, and nobody can change it.
func sealed(f *trust.File) (*os.File, error) {
	if f.Info.Size() > largest {
		return nil, fmt.Errorf("it has %d bytes: at most %d", f.Info.Size(), largest)
	}
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("plug-in", flags|unix.MFD_EXEC)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("plug-in", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	to := os.NewFile(uintptr(fd), "plug-in")
	if _, err = io.Copy(to, io.LimitReader(r, largest)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		to.Close()
		return nil, err
	}
	return to, nil
}
