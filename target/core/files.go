package core

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// aFile stands in for the inode, which NT_FILE does not have: it says only that the mapping is of a
// file.
const aFile = 1

// Owner and type of the note of a mapped file that lies at the end of the core file itself.
// Snapshots (docs/snapshot.md) carry files that nobody will find at their paths. The note has three
// words of 8 bytes: the lowest address at which the file is mapped, its offset in the core file,
// and its size in bytes.
const (
	FileNoteOwner        = "SFWALK"
	FileNote      uint32 = 0x53574146
)

// carried is a mapped file that lies in the core file.
type carried struct {
	lo        uint64
	off, size int64
}

// parseCarried reads a FileNote. If the file was cut off, c has the size of the part that is left.
func (f *file) parseCarried(data []byte) (c carried, ok bool) {
	if len(data) < 24 {
		return c, false
	}
	lo, off, size := f.arch.Order.Uint64(data), f.arch.Order.Uint64(data[8:]), f.arch.Order.Uint64(data[16:])
	if off > 1<<62 || size > 1<<62 {
		return c, false
	}
	f.missing = max(f.missing, int64(off+size)-f.size)
	has := uint64(max(f.size-int64(off), 0))
	return carried{lo, int64(off), int64(min(size, has))}, has > 0
}

// carried opens a file that the core itself carries, by its path.
func (l *loader) carried(path string) (r io.ReaderAt, size int64, err error) {
	c, ok := l.carriedAt[path]
	if !ok {
		return nil, 0, errNotCarried
	}
	return io.NewSectionReader(l.core.r, c.off, c.size), c.size, nil
}

// carriedByPath returns the carried files by their paths; of several of one path, the first.
func carriedByPath(n *notes) map[string]carried {
	paths := make(map[uint64]string, len(n.files))
	for i := range n.files {
		paths[n.files[i].Lo] = n.files[i].Path
	}
	found := make(map[string]carried)
	for _, c := range n.carried {
		path, ok := paths[c.lo]
		if _, again := found[path]; ok && !again {
			found[path] = c
		}
	}
	return found
}

var errNotCarried = errors.New("the core has no such file")

// Bounds on the mappings of NT_FILE, and on their files. A process can have some 65,000 mappings;
// where vm.max_map_count is raised, it is mostly 262,144. maxPathText bounds the paths' bytes.
const maxFiles, maxPaths, maxPathText = 1 << 18, 1 << 16, 16 << 20

// parseFiles reads NT_FILE: the count, the unit of offsets, count times start, end and offset, then
// as many names. The list ends at the first broken entry, and an error says so.
func parseFiles(data []byte, a *arch.Arch) (list []procmaps.Mapping, err error) {
	head, each := 2*a.PtrSize, 3*a.PtrSize
	word := func(p []byte, i int) uint64 { return a.Word(p[i*a.PtrSize:]) }
	if len(data) < head {
		return nil, fmt.Errorf("%d bytes", len(data))
	}
	count, unit := word(data, 0), word(data, 1)
	if count > uint64((len(data)-head)/each) {
		return nil, fmt.Errorf("%d entries do not fit into %d bytes", count, len(data))
	}
	end := head + each*int(count)
	entries, names := data[head:end], data[end:]
	list = make([]procmaps.Mapping, 0, min(count, maxFiles))
	paths := make(map[string]string)
	leftOut, pathText := 0, 0
	for ; len(entries) > 0; entries = entries[each:] {
		name, rest, ok := bytes.Cut(names, []byte{0})
		if !ok {
			return list, fmt.Errorf("%d names for %d entries", len(list), count)
		}
		names = rest
		path, known := paths[string(name)]
		if len(list) == maxFiles || !known && (len(paths) == maxPaths || pathText+len(name) > maxPathText) {
			leftOut++
			continue
		}
		if !known {
			path = string(name)
			paths[path] = path
			pathText += len(path)
		}
		m := procmaps.Mapping{Lo: word(entries, 0), Hi: word(entries, 1), Read: true, Inode: aFile, Listed: true}
		if page := word(entries, 2); unit > 0 && page < 1<<63/unit {
			m.Offset = page * unit
		}
		m.Path, m.Deleted = strings.CutSuffix(path, " (deleted)")
		if m.Lo >= m.Hi || len(list) > 0 && m.Lo < list[len(list)-1].Hi {
			return list, fmt.Errorf("%q is mapped from %#x to %#x, which is not behind what comes before it", m.Path, m.Lo, m.Hi)
		}
		list = append(list, m)
	}
	if leftOut > 0 {
		err = fmt.Errorf("%d of %d entries are left out: more than %d, or than %d files with %d MiB of paths, are not believed", leftOut, count, maxFiles, maxPaths, maxPathText>>20)
	}
	return list, err
}
