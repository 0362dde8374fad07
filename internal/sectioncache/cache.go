package sectioncache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/internal/trust"
	"github.com/sfwalk/sfwalk/symbol"
)

const (
	// usualRoom bounds the files of a cache together, bytes.
	usualRoom = 1 << 30
	// share is the part of the free room of a file system that one file may take up: one of share.
	share = 8
	// mostOpen bounds the files that are open at once. A process with more debug files has the other sections inflated.
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
	now    func() time.Time
	open   atomic.Int64 // files

	mu sync.Mutex // over makeRoom
}

// New returns the user's cache. When ctx is done, it keeps no more.
func New(ctx context.Context) *Cache {
	return in(ctx, func() string {
		dir, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(dir, "sfwalk", "sections")
	})
}

// in returns a cache in a folder, which is made if it is not there.
func in(ctx context.Context, path func() string) *Cache {
	return &Cache{ctx: ctx, room: usualRoom, now: time.Now, folder: sync.OnceValue(func() *os.Root { return folder(path()) })}
}

// folder opens the folder of a cache. It returns nil if that is not the user's own, or if anybody else
// can put another one in its place.
func folder(path string) *os.Root {
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
	real, ok := ownFolder(there)
	if !ok {
		return nil
	}
	if there != path {
		rest, err := filepath.Rel(there, path)
		if err != nil || os.MkdirAll(filepath.Join(real, rest), 0o700) != nil {
			return nil
		}
		if real, ok = ownFolder(filepath.Join(real, rest)); !ok {
			return nil
		}
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil
	}
	return root
}

// ownFolder returns the path of a folder without symbolic links; ok is false if it is not the user's
// own, or somebody else can exchange it.
func ownFolder(path string) (real string, ok bool) {
	f, err := trust.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	return f.Path, f.Others == nil && f.Info.IsDir() && ours(f.Info)
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

// reader returns the section of an open file; nil if too many are open. The error says that the file is
// of no use.
func (c *Cache) reader(f *os.File, key string, size int64) (*section, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !ours(info) {
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
