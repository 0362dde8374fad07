package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// At is where a file is.
type At struct {
	Root string // folder that is the root for Path and links; "" for this machine's own
	Path string
}

// String returns the path on this machine, for messages.
func (a At) String() string {
	if a.Root == "" {
		return a.Path
	}
	return filepath.Join(a.Root, a.Path)
}

// With returns the file at another path below the same root.
func (a At) With(path string) At { return At{a.Root, path} }

// Open opens a file of this machine for reading.
func Open(name string) (*os.File, error) { return At{Path: name}.Open() }

// Open opens the file for reading. It refuses all but regular files.
func (a At) Open() (*os.File, error) {
	if a.Root != "" {
		return openBelow(a)
	}
	return open(a.Path)
}

// Stat describes the file, of any type.
func (a At) Stat() (os.FileInfo, error) {
	if a.Root == "" {
		return os.Stat(a.Path)
	}
	return statBelow(a)
}

// Resolve returns the file's path without symbolic links.
func (a At) Resolve() (At, error) {
	if a.Root == "" {
		to, err := filepath.EvalSymlinks(a.Path)
		return At{Path: to}, err
	}
	root, err := os.OpenRoot(a.Root)
	if err != nil {
		return At{}, err
	}
	defer root.Close()
	inside, err := resolve(root, a)
	return At{a.Root, "/" + inside}, err
}

// irregular returns an error for a file that is not a regular one.
func irregular(mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return fmt.Errorf("not a regular file (%v)", mode.Type())
}

// openPlainly opens a file and checks its type, before and after: open(2) must wait neither for a
// pipe that was there nor for one that has come in between.
func openPlainly(name string, stat func(string) (os.FileInfo, error), open func(string, int, os.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(name)
	if err == nil {
		err = irregular(info.Mode())
	}
	if err != nil {
		return nil, err
	}
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = irregular(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openResolved is [At.Open] below a root without the kernel's help. It resolves the path link by
// link, and opens the result by [os.Root], which never leaves the folder.
func openResolved(a At) (*os.File, error) {
	root, err := os.OpenRoot(a.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	inside, err := resolve(root, a)
	if err != nil {
		return nil, err
	}
	return openPlainly(inside, root.Stat, root.OpenFile)
}

func statResolved(a At) (os.FileInfo, error) {
	root, err := os.OpenRoot(a.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	inside, err := resolve(root, a)
	if err != nil {
		return nil, err
	}
	return root.Lstat(inside)
}

// maxLinks bounds how many symbolic links are followed, as in the kernel.
const maxLinks = 40

// resolve returns a path below a root without symbolic links, relative to the root. Absolute links
// begin at the root, and .. does not lead out of it.
func resolve(root *os.Root, a At) (inside string, err error) {
	rest, links := filepath.ToSlash(a.Path), 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if inside = path.Dir(inside); inside == "." {
				inside = ""
			}
			continue
		}
		at := path.Join(inside, name)
		info, err := root.Lstat(filepath.FromSlash(at))
		if err != nil {
			return "", &fs.PathError{Op: "open", Path: a.String(), Err: bare(err)}
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			inside = at
			continue
		}
		to, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return "", &fs.PathError{Op: "open", Path: a.String(), Err: bare(err)}
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: a.String(), Err: errLoop}
		}
		if to = filepath.ToSlash(to); path.IsAbs(to) {
			inside = ""
		}
		rest = to + "/" + rest
	}
	if inside == "" {
		inside = "."
	}
	return inside, nil
}

var errLoop = errors.New("too many levels of symbolic links")

// bare takes the path off an error.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
