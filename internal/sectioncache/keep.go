package sectioncache

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/symbol"
)

const (
	// partial begins the name of a file that is being written.
	partial = "part-"
	// abandoned is how old such a file is when nobody writes to it any more.
	abandoned = time.Hour
)

// Keep implements [symbol.Inflated]. It writes a file beside the others, and then gives it its
// name: no reader sees a part of it.
func (c *Cache) Keep(s symbol.CompressedSection, inflate func() (io.Reader, error)) {
	if c.ReadOnly || s.Size <= 0 || s.Size > symbol.MaxInflated || c.ctx.Err() != nil {
		return
	}
	key, settled, ok := keyOf(s, c.now())
	if !ok || !settled {
		return
	}
	root := c.folder()
	if root == nil {
		return
	}
	_, begin := headSize(key, s.Size)
	f, name := c.create(root, begin+s.Size)
	if f == nil {
		return
	}
	from, err := inflate()
	if err == nil {
		err = write(f, key, s.Size, from, c.ctx.Err)
	}
	if failed := f.Close(); err == nil {
		err = failed
	}
	// What was inflated is of the state that the key tells, unless the file has changed meanwhile.
	if again, _, ok := keyOf(s, c.now()); err == nil && ok && again == key && root.Rename(name, fileName(key)) == nil {
		return
	}
	root.Remove(name)
}

// create makes a file of size bytes, which are to be written; nil if there is no room. The file has
// its size from the beginning on, so that it counts for whoever makes room meanwhile.
func (c *Cache) create(root *os.Root, size int64) (f *os.File, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.makeRoom(root, size) {
		return nil, ""
	}
	name = partial + rand.Text()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, ""
	}
	if f.Truncate(size) != nil {
		f.Close()
		root.Remove(name)
		return nil, ""
	}
	return f, name
}

// makeRoom removes what others have left behind, and the files that were not used for longest,
// until there is room for a file of size bytes more. It reports whether there is. The caller holds
// c.mu.
func (c *Cache) makeRoom(root *os.Root, size int64) bool {
	room := usercache.Room(c.room)
	if size > room || size > free(root)/share {
		return false
	}
	if c.total && !usercache.MakeRoom(size) {
		return false
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false
	}
	var files []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if strings.HasPrefix(info.Name(), partial) && time.Since(info.ModTime()) > abandoned && root.Remove(info.Name()) == nil {
			continue
		}
		files = append(files, info)
		size += info.Size()
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range files {
		if size <= room {
			break
		}
		if strings.HasPrefix(info.Name(), partial) {
			continue
		}
		// Another process may have removed it to make room, too.
		if err := root.Remove(info.Name()); err == nil || errors.Is(err, fs.ErrNotExist) {
			size -= info.Size()
		}
	}
	return size <= room
}
