package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// File is a file whose path was followed once.
type File struct {
	// Path is absolute and has no symbolic links. If Others is nil, no other user can make it lead
	// elsewhere.
	Path   string
	Info   fs.FileInfo
	Others error // says who else may write to the file, or put another in its place; nil if no one

	held *os.File // O_PATH
}

// Open follows a path. It is no error if others may change the file.
func Open(path string) (*File, error) { return open(path, false) }

func open(path string, temporary bool) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	w := walk{rest: steps(abs), temporary: temporary}
	defer w.close()
	fd, err := w.run()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &File{Path: w.path(), Others: w.others, held: os.NewFile(uintptr(fd), path)}
	if f.Info, err = f.held.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Reader opens the held file for reading.
func (f *File) Reader() (*os.File, error) { return os.Open(f.Proc()) }

// Held returns a descriptor of the file (O_PATH), by which it can be run, not read or written.
func (f *File) Held() *os.File { return f.held }

// Proc returns a path to the held file. It is valid in this process alone.
func (f *File) Proc() string { return held(int(f.held.Fd())) }

// Close closes the file.
func (f *File) Close() error { return f.held.Close() }

func held(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// walk follows a path.
type walk struct {
	dirs   []int    // descriptors (O_PATH), from "/" to the folder that the walk has reached
	names  []string // of dirs, without "/"; then the file's
	rest   []string // steps to come
	links  int      // followed so far
	others error

	temporary bool // what it leads to may be a folder like /tmp
}

// mostLinks is how many symbolic links the kernel follows.
const mostLinks = 40

func steps(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

func (w *walk) path() string { return "/" + strings.Join(w.names, "/") }

func (w *walk) close() {
	for _, fd := range w.dirs {
		unix.Close(fd)
	}
}

// run returns a descriptor (O_PATH) of the file that the path leads to.
func (w *walk) run() (int, error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	w.dirs = []int{root}
	for len(w.rest) > 0 {
		if err := w.judge(false); err != nil {
			return 0, err
		}
		name := w.rest[0]
		w.rest = w.rest[1:]
		if name == ".." {
			w.up()
			continue
		}
		fd, err := w.open(name)
		if err != nil {
			return 0, err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			unix.Close(fd)
			return 0, err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			err := w.follow(fd, name, &st)
			unix.Close(fd)
			if err != nil {
				return 0, err
			}
			continue
		}
		w.names = append(w.names, name)
		w.dirs = append(w.dirs, fd)
		if st.Mode&unix.S_IFMT != unix.S_IFDIR && len(w.rest) > 0 {
			return 0, unix.ENOTDIR
		}
	}
	if err := w.judge(!w.temporary); err != nil {
		return 0, err
	}
	last := len(w.dirs) - 1
	fd := w.dirs[last]
	w.dirs = w.dirs[:last]
	return fd, nil
}

// open opens a step, first as a folder: automounted folders are mounted only when entered.
func (w *walk) open(name string) (int, error) {
	dir := w.dirs[len(w.dirs)-1]
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags|unix.O_DIRECTORY, 0)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		fd, err = unix.Openat(dir, name, flags, 0)
	}
	return fd, err
}

func (w *walk) up() {
	if last := len(w.dirs) - 1; last > 0 {
		unix.Close(w.dirs[last])
		w.dirs, w.names = w.dirs[:last], w.names[:last-1]
	}
}

// follow replaces the name of a symbolic link by its target.
func (w *walk) follow(fd int, name string, st *unix.Stat_t) error {
	if w.links++; w.links > mostLinks {
		return unix.ELOOP
	}
	var room [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, "", room[:])
	if err != nil {
		return err
	}
	if n == 0 {
		return unix.ENOENT
	}
	if w.others == nil {
		w.others = owner(filepath.Join(w.path(), name), st.Uid)
	}
	to := string(room[:n])
	if to[0] == '/' {
		for len(w.dirs) > 1 {
			w.up()
		}
	}
	w.rest = append(steps(to), w.rest...)
	return nil
}

// judge notes who else may write to the folder or file that the walk has reached.
func (w *walk) judge(end bool) error {
	if w.others != nil {
		return nil
	}
	fd := w.dirs[len(w.dirs)-1]
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	path := w.path()
	if w.others = owner(path, st.Uid); w.others != nil {
		return nil
	}
	// In a folder like /tmp, with the sticky bit, users can replace only their own files.
	if !end && st.Mode&unix.S_ISVTX != 0 {
		return nil
	}
	if nfs, err := attribute(fd, nfs4ACL); err != nil {
		return err
	} else if nfs != nil {
		w.others = nfs4Writers(path, nfs, st.Gid)
		return nil // the list says more than the mode, which is made from it
	}
	acl, err := attribute(fd, posixACL)
	if err != nil {
		return err
	}
	if acl != nil {
		w.others = posixWriters(path, acl, st.Gid)
		return nil
	}
	w.others = modeWriters(path, st.Mode, st.Gid)
	return nil
}

// attribute reads an extended attribute; nil if there is none.
func attribute(fd int, name string) ([]byte, error) {
	for size := 1 << 10; ; size = 64 << 10 { // the kernel has none that is longer
		value := make([]byte, size)
		n, err := unix.Getxattr(held(fd), name, value)
		switch {
		case err == nil:
			return value[:n], nil
		case err == unix.ENODATA || err == unix.ENOTSUP:
			return nil, nil
		case err == unix.ERANGE && size == 1<<10:
		default:
			return nil, fmt.Errorf("access control list (%s): %w", name, err)
		}
	}
}
