//go:build unix && !linux

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// File is a file whose path was followed once.
type File struct {
	// Path is absolute and has no symbolic links. If Others is nil, no other user can make it lead
	// elsewhere.
	Path   string
	Info   fs.FileInfo
	Others error // says who else may write to the file, or put another in its place; nil if no one
}

// Open follows a path. It is no error if others may change the file.
func Open(path string) (*File, error) { return open(path, false) }

func open(path string, temporary bool) (*File, error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, err
	}
	f := &File{Path: real}
	// From "/" on: if no other user may change a folder, none can exchange the next step.
	steps := []string{"/"}
	for i := 1; i < len(real); i++ {
		if real[i] == '/' {
			steps = append(steps, real[:i])
		}
	}
	for _, step := range steps {
		if err := f.judge(step, false); err != nil {
			return nil, err
		}
	}
	return f, f.judge(real, !temporary)
}

func (f *File) judge(path string, end bool) (err error) {
	if f.Info, err = os.Lstat(path); err != nil {
		return err
	}
	sys, ok := f.Info.Sys().(*syscall.Stat_t)
	if !ok || f.Others != nil {
		return nil
	}
	if f.Others = owner(path, sys.Uid); f.Others == nil && (end || f.Info.Mode()&fs.ModeSticky == 0) {
		f.Others = modeWriters(path, uint32(f.Info.Mode().Perm()), sys.Gid)
	}
	return nil
}

// Reader opens the file to be read.
func (f *File) Reader() (*os.File, error) { return os.Open(f.Path) }

// Held is nil: this system runs no descriptors.
func (f *File) Held() *os.File { return nil }

// Close closes the file.
func (f *File) Close() error { return nil }
