package regular

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// useOpenat2 allows the kernel to resolve paths below a root. Tests turn it off.
var useOpenat2 = true

func open(name string) (*os.File, error) {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	f, err := Reopen(fd, name)
	if errors.Is(err, errNoProc) {
		return openPlainly(name, os.Stat, os.OpenFile)
	}
	return f, err
}

// errNoProc says that /proc is not mounted here.
var errNoProc = errors.New("no /proc")

// Reopen opens the file of a descriptor that was opened with O_PATH for reading, if it is a regular
// file. Errors and the file have the name name.
func Reopen(fd int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if err := irregular(mode(&st)); err != nil {
		return nil, err
	}
	readable, err := retry(func() (int, error) {
		// Do not wait either for a file that its owner has leased.
		return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err == unix.ENOENT && unix.Access("/proc/self/fd", unix.F_OK) != nil {
		err = errNoProc
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	unix.FcntlInt(uintptr(readable), unix.F_SETFL, 0) // it need not be polled
	return os.NewFile(uintptr(readable), name), nil
}

// mode returns the type of a file from its status.
func mode(st *unix.Stat_t) fs.FileMode {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return fs.ModeIrregular
}

func openBelow(a At) (*os.File, error) { return a.openWith(nil) }

// openWith is [At.Open] with other rights, which take takes when the root is open; nil for none.
func (a At) openWith(take func() error) (*os.File, error) {
	if take == nil {
		take = func() error { return nil }
	}
	if a.Root == "" {
		if err := take(); err != nil {
			return nil, &fs.PathError{Op: "open", Path: a.Path, Err: err}
		}
		return open(a.Path)
	}
	fd, err := pathBelow(a, take)
	if errors.Is(err, errNoOpenat2) {
		return openResolved(a)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	f, err := Reopen(fd, a.String())
	if errors.Is(err, errNoProc) {
		return openResolved(a)
	}
	return f, err
}

func statBelow(a At) (os.FileInfo, error) {
	fd, err := pathBelow(a, func() error { return nil })
	if errors.Is(err, errNoOpenat2) {
		return statResolved(a)
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), a.String())
	defer f.Close()
	return f.Stat()
}

// errNoOpenat2 says that the kernel is older than Linux 5.6, or that a filter does not know the
// call.
var errNoOpenat2 = errors.New("no openat2")

// pathBelow opens the file at a path below a root, of any type, with O_PATH. It calls take between
// the two.
func pathBelow(a At, take func() error) (fd int, err error) {
	root, err := retry(func() (int, error) { return unix.Open(a.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: a.Root, Err: err}
	}
	defer unix.Close(root)
	if err := take(); err != nil {
		return -1, &fs.PathError{Op: "open", Path: a.String(), Err: err}
	}
	if !useOpenat2 {
		return -1, errNoOpenat2
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err = retry(func() (int, error) { return unix.Openat2(root, a.Path, &how) })
	switch {
	case err == unix.ENOSYS || err == unix.EPERM:
		return -1, errNoOpenat2
	case err != nil:
		return -1, &fs.PathError{Op: "open", Path: a.String(), Err: err}
	}
	return fd, nil
}

// retry makes a call again that was interrupted by a signal, or by the renaming of a folder, after
// which the kernel cannot trust "..".
func retry(call func() (int, error)) (fd int, err error) {
	for range 100 {
		if fd, err = call(); err != unix.EINTR && err != unix.EAGAIN {
			break
		}
	}
	return fd, err
}
