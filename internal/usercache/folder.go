package usercache

import (
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/trust"
)

// Folder opens the folder sfwalk/name of the user's cache. It is made if it is not there. Folder returns nil if there can be none.
func Folder(name string) *os.Root {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return Open(filepath.Join(dir, "sfwalk", name))
}

// Open opens a folder by its path. It is made if it is not there. Open returns nil if that is not the user's own, or if anybody else can put
// another one in its place.
func Open(path string) *os.Root {
	if !filepath.IsAbs(path) {
		return nil
	}
	// First the innermost folder that is there: nothing is made in another user's folder.
	there := path
	for there != filepath.Dir(there) {
		if _, err := os.Lstat(there); err == nil {
			break
		}
		there = filepath.Dir(there)
	}
	real, ok := own(there)
	if !ok {
		return nil
	}
	if there != path {
		rest, err := filepath.Rel(there, path)
		if err != nil || os.MkdirAll(filepath.Join(real, rest), 0o700) != nil {
			return nil
		}
		if real, ok = own(filepath.Join(real, rest)); !ok {
			return nil
		}
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil
	}
	return root
}

// own returns the path of a folder without symbolic links; ok is false if it is not the user's own, or somebody else can exchange it.
func own(path string) (real string, ok bool) {
	f, err := trust.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	return f.Path, f.Others == nil && f.Info.IsDir() && Ours(f.Info)
}
