package elf

import (
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// Cache keeps one image of each file, so that a file that has several names, or is mapped several
// times, is read once. Its zero value is empty. It is safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	images map[any]*Image
}

// Open is the function [Open], but returns the same image each time that the same file is opened.
// again is true from the second time on. The image reads from the r of the first call, which must
// stay readable.
func (c *Cache) Open(r io.ReaderAt, size int64) (im *Image, again bool, err error) {
	return c.open(r, size, regular.At{})
}

// Has reports whether [Cache.Open] has an image of the file.
func (c *Cache) Has(r io.ReaderAt, size int64) bool {
	id, ok := elffile.Identity(r, size)
	c.mu.Lock()
	defer c.mu.Unlock()
	return ok && c.images[id] != nil
}

func (c *Cache) open(r io.ReaderAt, size int64, at regular.At) (im *Image, again bool, err error) {
	id, ok := elffile.Identity(r, size)
	if !ok {
		if im, err = Open(r, size); err == nil {
			im.at(at)
		}
		return im, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if im = c.images[id]; im != nil {
		return im, true, nil
	}
	if im, err = Open(r, size); err != nil {
		return nil, false, err
	}
	im.at(at)
	if c.images == nil {
		c.images = make(map[any]*Image)
	}
	c.images[id] = im
	return im, false, nil
}
