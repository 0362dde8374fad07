package sectioncache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/symbol"
)

const (
	// usualRoom bounds the files of a cache together, bytes.
	usualRoom = 4 << 30
	// share is the part of the free room of a file system that one file may take up: one of share.
	share = 8
	// mostOpen bounds the files that are open at once. A process with more debug files has the
	// other sections inflated.
	mostOpen = 256
	// fresh is how old the time of a file's last use may be before it is set anew.
	fresh = time.Hour
)

// Cache is a cache in a folder. It is safe for concurrent use.
type Cache struct {
	// ReadOnly has nothing be kept: to keep takes time, in which a target may be held.
	ReadOnly bool

	ctx    context.Context
	folder func() *os.Root // nil if there can be no cache
	room   int64
	total  bool // the bound of all that the user's cache has counts, too
	now    func() time.Time
	open   atomic.Int64 // files

	mu sync.Mutex // over create
}

// New returns the user's cache. When ctx is done, it keeps no more.
func New(ctx context.Context) *Cache {
	c := in(ctx, func() *os.Root { return usercache.Folder("sections") })
	c.total = true
	return c
}

// in returns a cache in a folder, which is made if it is not there.
func in(ctx context.Context, open func() *os.Root) *Cache {
	return &Cache{ctx: ctx, room: usualRoom, now: time.Now, folder: sync.OnceValue(open)}
}

// fileName returns the name of a section's file.
func fileName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Open implements [symbol.Inflated].
func (c *Cache) Open(s symbol.CompressedSection) symbol.InflatedSection {
	key, _, ok := keyOf(s, c.now())
	if !ok || s.Size <= 0 || s.Size > symbol.MaxInflated {
		return nil
	}
	root := c.folder()
	if root == nil {
		return nil
	}
	name := fileName(key)
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	kept, err := c.reader(f, key, s.Size)
	if err != nil {
		f.Close()
		root.Remove(name)
		return nil
	}
	if kept == nil {
		f.Close()
		return nil
	}
	if info, err := f.Stat(); err == nil && time.Since(info.ModTime()) > fresh {
		now := time.Now()
		root.Chtimes(name, now, now)
	}
	kept.damaged = func() { root.Remove(name) }
	return kept
}

// reader returns the section of an open file; nil if too many are open. The error says that the
// file is of no use.
func (c *Cache) reader(f *os.File, key string, size int64) (*section, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !usercache.Ours(info) {
		return nil, fmt.Errorf("not a file of this user's own: %w", errDamaged)
	}
	if _, begin := headSize(key, size); info.Size() != begin+size {
		return nil, fmt.Errorf("%d bytes: %w", info.Size(), errDamaged)
	}
	r, err := newReader(f, key, size)
	if err != nil {
		return nil, err
	}
	if c.open.Add(1) > mostOpen {
		c.open.Add(-1)
		return nil, nil
	}
	return &section{reader: r, file: f, of: c}, nil
}

// section is a section that is read.
type section struct {
	*reader
	file    *os.File
	of      *Cache
	damaged func() // removes the file
}

// ReadAt implements [io.ReaderAt].
func (s *section) ReadAt(p []byte, off int64) (n int, err error) {
	if n, err = s.reader.ReadAt(p, off); err != nil && err != io.EOF {
		s.damaged()
	}
	return n, err
}

// Close closes the file.
func (s *section) Close() error {
	s.of.open.Add(-1)
	return s.file.Close()
}
