package usercache

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/trust"
)

// made is the path of the cache, if this process has made it.
var made atomic.Pointer[string]

// Made returns the path of the cache if this process has made it; "" if it was there before, or is
// not there.
func Made() string {
	if path := made.Load(); path != nil {
		return *path
	}
	return ""
}

// Path makes the folder sfwalk/name of the user's cache, if it is not there, and returns its path.
// The error says why there can be none.
func Path(name string) (string, error) {
	top, err := Top()
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(top); err != nil {
		if _, err := Make(filepath.Dir(top)); err != nil {
			return "", err
		}
		if os.Mkdir(top, 0o700) == nil { // of two processes, one makes it
			made.Store(&top)
		}
	}
	return Make(filepath.Join(top, name))
}

// Folder opens the folder sfwalk/name of the user's cache. It is made if it is not there. Folder
// returns nil if there can be none, or if nothing is to be kept.
func Folder(name string) *os.Root {
	if room.Load() == 0 {
		return nil
	}
	dir, err := Path(name)
	if err != nil {
		return nil
	}
	return Open(dir)
}

// Open opens a folder by its path. It is made if it is not there. Open returns nil if that is not
// the user's own, or if anybody else can put another one in its place, or if this system does not
// say so.
func Open(path string) *os.Root {
	if !known {
		return nil
	}
	real, err := Make(path)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil
	}
	return root
}

// Make makes a folder, if it is not there, and returns its path without symbolic links. The error
// says that it is not the user's own, or that somebody else can put another one in its place, as
// far as this system says so.
func Make(path string) (real string, err error) {
	if !known {
		return path, os.MkdirAll(path, 0o700)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is no absolute path", path)
	}
	// First the innermost folder that is there: nothing is made in another user's folder.
	there := path
	for there != filepath.Dir(there) {
		if _, err := os.Lstat(there); err == nil {
			break
		}
		there = filepath.Dir(there)
	}
	if real, err = own(there); err != nil || there == path {
		return real, err
	}
	rest, err := filepath.Rel(there, path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(real, rest), 0o700); err != nil {
		return "", err
	}
	return own(filepath.Join(real, rest))
}

// own returns the path of a folder without symbolic links, if it is the user's own, and nobody else
// can exchange it.
func own(path string) (real string, err error) {
	f, err := trust.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	switch {
	case f.Others != nil:
		return "", f.Others
	case !f.Info.IsDir():
		return "", fmt.Errorf("%s is no folder", path)
	case !Ours(f.Info):
		return "", fmt.Errorf("%s is another user's, or others can write to it", path)
	}
	return f.Path, nil
}
