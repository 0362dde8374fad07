//go:build !unix

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file.
type File struct {
	Path   string
	Info   fs.FileInfo
	Others error // nil: this is for systems whose files have an owner and a mode
}

// Open looks for a file.
func Open(path string) (*File, error) { return open(path, false) }

func open(path string, _ bool) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	return &File{Path: abs, Info: st}, nil
}

// Reader opens the file to be read.
func (f *File) Reader() (*os.File, error) { return os.Open(f.Path) }

// Held is nil: this system runs no descriptors.
func (f *File) Held() *os.File { return nil }

// Close closes the file.
func (f *File) Close() error { return nil }
