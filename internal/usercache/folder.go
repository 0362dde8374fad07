package usercache

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/trust"
)

// Folder opens the folder sfwalk/name of the user's cache. It is made if it is not there. Folder
// returns nil if there can be none.
func Folder(name string) *os.Root {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return Open(filepath.Join(dir, "sfwalk", name))
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
