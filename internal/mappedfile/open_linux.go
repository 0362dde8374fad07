package mappedfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Process has the ways to the files of a process. Each may be missing. All of them stay the
// caller's.
type Process struct {
	Dir     *os.File      // its folder in /proc; nil if it has ended
	Memory  target.Memory // as it is now; nil if it may not be read, or if the process has ended
	Root    *os.File      // its root folder; nil if that is refused
	OwnRoot *os.File      // this program's root folder
	Exe     *os.File      // the program that it runs
	ExePath string        // the path of Exe, as the maps have it

	NoMapFiles bool // leave out the way that needs privileges, /proc/PID/map_files
}

// Found is what was found of a mapped file. The caller closes both files.
type Found struct {
	File  *os.File // the mapped file; nil if there is no way to it
	Other *os.File // another file that now has its path; nil if there is none, or if nobody has looked there
	Err   error    // why there is nothing at the path
}

// Close closes both files.
func (f *Found) Close() {
	for _, file := range [...]*os.File{f.File, f.Other} {
		if file != nil {
			file.Close()
		}
	}
}

// Open opens a mapped file. It tries /proc/PID/map_files, which needs privileges; the program; and
// the file's path below the process's root and this program's.
func (p *Process) Open(m *procmaps.File) (found Found) {
	found.File = p.mapFile(m)
	if found.File == nil && m.Path == p.ExePath && p.Exe != nil && p.same(p.Exe, m) {
		if fd, err := unix.FcntlInt(p.Exe.Fd(), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			found.File = os.NewFile(uintptr(fd), p.ExePath)
		}
	}
	if found.File == nil || m.Deleted {
		var file *os.File
		file, found.Other, found.Err = p.byPath(m)
		if found.File == nil {
			found.File = file
		} else if file != nil {
			file.Close()
		}
	}
	return found
}

// mapFile opens the file through a range of addresses that it is mapped at.
func (p *Process) mapFile(m *procmaps.File) *os.File {
	if p.NoMapFiles || p.Dir == nil {
		return nil
	}
	for _, x := range m.Mappings {
		file, err := openRegular(int(p.Dir.Fd()), fmt.Sprintf("map_files/%x-%x", x.Lo, x.Hi), m.Path)
		if err == nil {
			if p.same(file, m) { // by now another file may be mapped at the range
				return file
			}
			file.Close()
		}
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			break
		}
	}
	return nil
}

// byPath opens the mapped file by its path. If another file now has that path, byPath returns that
// as other. The kernel writes a path as seen from our root if the file can be reached from there (a
// chroot folder), else as seen from the root of the process's mount namespace.
func (p *Process) byPath(m *procmaps.File) (mapped, other *os.File, err error) {
	err = os.ErrPermission
	for _, root := range [...]*os.File{p.Root, p.OwnRoot} {
		if root == nil {
			continue
		}
		var file *os.File
		if file, err = openBelow(root, m.Path); err != nil {
			continue
		}
		switch {
		case p.same(file, m):
			if other != nil {
				other.Close()
			}
			return file, nil, nil
		case other == nil:
			other = file
		default:
			file.Close()
		}
	}
	return nil, other, err
}

func openBelow(root *os.File, path string) (*os.File, error) {
	at := regular.At{Root: fmt.Sprintf("/proc/self/fd/%d", root.Fd()), Path: path}
	file, err := at.Open()
	if errors.Is(err, unix.ENOENT) && strings.Contains(path, "\n") {
		// The name may hold the four characters that the kernel writes for a newline.
		file, err = at.With(strings.ReplaceAll(path, "\n", `\012`)).Open()
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: withoutPath(err)}
	}
	return file, nil
}

// withoutPath removes the path from an error whose message the caller begins with the path.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// openRegular opens a regular file. Opening other kinds of files alone could do harm. Errors call
// the file by name.
func openRegular(dir int, path, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return regular.Reopen(fd, name)
}
