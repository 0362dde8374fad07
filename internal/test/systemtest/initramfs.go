package systemtest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An archive is an initramfs that is being written: a cpio archive in the new ASCII format
// (Documentation/driver-api/early-userspace/buffer-format.rst).
type archive struct {
	w     io.Writer
	at    int64
	inode int
	have  map[string]bool
	links map[string]string // folders that are elsewhere
	err   error
}

func newArchive(w io.Writer) *archive {
	return &archive{w: w, have: map[string]bool{}, links: map[string]string{}}
}

// moved makes a folder at the top a link to another one. All that is added below it goes there.
func (a *archive) moved(dir, to string) {
	a.add(dir, typeLink|0o777, []byte(to))
	a.links[dir] = to
}

// File types, as in st_mode.
const (
	typeDir  = 0o040000
	typeFile = 0o100000
	typeLink = 0o120000
)

func (a *archive) write(p []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(p)
		a.at += int64(len(p))
	}
}

func (a *archive) pad() { a.write(make([]byte, -a.at&3)) }

// add writes one entry, unless the archive has one of that name.
func (a *archive) add(name string, mode uint32, data []byte) {
	name = strings.TrimPrefix(filepath.ToSlash(filepath.Clean("/"+name)), "/")
	if top, rest, below := strings.Cut(name, "/"); below && a.links[top] != "" {
		name = a.links[top] + "/" + rest
	}
	if name == "" || a.have[name] {
		return
	}
	a.have[name] = true
	if dir := filepath.Dir(name); dir != "." {
		a.add(dir, typeDir|0o755, nil)
	}
	a.inode++
	a.entry(name, a.inode, mode, data)
}

func (a *archive) entry(name string, inode int, mode uint32, data []byte) {
	// Magic, inode, mode, uid, gid, links, mtime, size, device twice, length of the name, check.
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0))
	a.write(append([]byte(name), 0))
	a.pad()
	a.write(data)
	a.pad()
}

// file adds a file of this machine.
func (a *archive) file(name, from string) {
	data, err := os.ReadFile(from)
	if a.err == nil {
		a.err = err
	}
	a.add(name, typeFile|0o755, data)
}

// tree adds all files below a folder, at a place, but for files that skip chooses.
func (a *archive) tree(at, dir string, skip func(name string) bool) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(at, name)
		switch {
		case name == ".":
		case skip(name):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			a.add(to, typeDir|0o755, nil)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			a.add(to, typeLink|0o777, []byte(link))
		case d.Type().IsRegular():
			a.file(to, path)
		}
		return a.err
	})
	if a.err == nil {
		a.err = err
	}
}

// close writes the archive's end.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, 0, nil)
	return a.err
}
