package kernelnames

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/sfwalk/sfwalk/internal/usercache"
)

// Cache keeps the kernel's own functions in a file of the user's cache. It is safe for concurrent
// use. What cannot be read or written is left out, without an error: the cache costs time alone.
type Cache struct {
	list   string // the file with the kernel's list
	folder func() *os.Root
	boot   func() string
}

// NewCache returns the user's cache.
func NewCache() *Cache {
	return &Cache{list: listFile, folder: sync.OnceValue(func() *os.Root { return usercache.Folder("kernel") }), boot: usercache.Boot}
}

// Names returns the functions of the kernel that runs which hold addresses, as [Running] does.
func (c *Cache) Names(addrs []uint64) map[uint64]string {
	if len(addrs) == 0 {
		return nil
	}
	t := c.table()
	names := make(map[uint64]string, len(addrs))
	var others []uint64
	for _, addr := range addrs {
		if name, ok := t.name(addr); ok {
			names[addr] = name
		} else {
			others = append(others, addr)
		}
	}
	maps.Copy(names, running(c.list, others))
	return names
}

// table returns the kernel's own functions: the list that was kept, or else the kernel's list,
// which is kept then. It returns nil if this user is not told where they are.
func (c *Cache) table() table {
	f, err := os.Open(c.list)
	if err != nil {
		return nil
	}
	defer f.Close()
	now := list{in: bufio.NewReaderSize(f, 4<<10)} // the kernel writes a page at a time, of which the first is mostly enough
	if !now.begin() {
		return nil
	}
	boot, root := c.boot(), c.folder()
	if root == nil || !isBoot(boot) {
		return nil
	}
	if t := kept(root, boot); bytes.HasPrefix(t, now.lines) {
		return t
	}
	if !now.to(lastName) {
		return nil
	}
	keep(root, boot, now.lines)
	return now.lines
}

// isBoot reports whether a text is the ID of a boot, a UUID, which is the name of its file.
func isBoot(id string) bool { return len(id) == 36 && strings.Trim(id, "0123456789abcdef-") == "" }

// head is what a file begins with: whose functions it has, and the checksum of what follows.
const head = "sfwalk kernel functions 1, boot %s, CRC-32C %08x\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kept returns the functions that a file has; nil if there is none, or it is damaged or not this
// user's own.
func kept(root *os.Root, boot string) table {
	f, err := root.OpenFile(boot, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !usercache.Ours(info) || info.Size() > maxTable {
		return nil
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return nil
	}
	first, rest, _ := bytes.Cut(text, []byte{'\n'})
	if string(first)+"\n" != fmt.Sprintf(head, boot, crc32.Checksum(rest, castagnoli)) {
		return nil
	}
	return rest
}

// maxFiles bounds the files of a cache: several machines may share one home.
const maxFiles = 4

// keep writes a file beside the others, and then gives it its name: no reader sees a part of it.
// The files that were written first go.
func keep(root *os.Root, boot string, t table) {
	name := "part-" + rand.Text()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(f, head, boot, crc32.Checksum(t, castagnoli))
	if err == nil {
		_, err = f.Write(t)
	}
	if failed := f.Close(); err == nil {
		err = failed
	}
	if err != nil || root.Rename(name, boot) != nil {
		root.Remove(name)
		return
	}
	entries, _ := fs.ReadDir(root.FS(), ".")
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range files[min(len(files), maxFiles):] {
		root.Remove(old.Name())
	}
}
