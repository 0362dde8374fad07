package perfmap

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// Bounds of a Map: the process may write anything into it.
const (
	maxMap   = 256 << 20 // bytes that are read
	maxLines = 1 << 20   // that are kept, 24 bytes each
	maxParts = 8         // that are searched one after the other
)

// File is the part of *os.File that a Map needs.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Map is a map that its process may go on writing. Each look-up reads what has come since the one
// before. It is safe for concurrent use.
type Map struct {
	file File

	mu    sync.Mutex
	size  int64                 // of the file, as far as it was read
	next  int64                 // offset of the first line that was not read
	long  bool                  // next is in a line that is too long
	parts []interval.Map[int64] // where the lines are, by the addresses of their code; the newest part is last
	lines int                   // in all parts
	err   error                 // why what is behind next is not read
}

// NewMap returns the map in a file. Close closes it.
func NewMap(f File) *Map { return &Map{file: f} }

// Close closes the file.
func (m *Map) Close() error { return m.file.Close() }

// Err says why a part of the map is left out; nil if all of it counts.
func (m *Map) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Find returns the name of the code at an address, as the last line that has the address says, and
// where the line's code begins.
func (m *Map) Find(addr uint64) (lo uint64, name string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := m.file.Stat()
	if err != nil {
		return 0, "", false
	}
	if info.Size() < m.size { // it has been written anew
		m.forget()
	}
	for range 2 { // once more if it has been written anew, and is longer now
		if info.Size() > m.size && m.err == nil {
			m.read(info.Size())
		}
		at, known := m.at(addr)
		if !known {
			break
		}
		if lo, hi, name := lineAt(m.file, at); name != "" && lo <= addr && addr < hi {
			return lo, name, true
		}
		m.forget()
	}
	return 0, "", false
}

func (m *Map) forget() {
	m.size, m.next, m.long, m.parts, m.lines, m.err = 0, 0, false, nil, 0, nil
}

// at returns the offset of the last line that was read of code at an address.
func (m *Map) at(addr uint64) (at int64, ok bool) {
	for i := range slices.Backward(m.parts) {
		if e, ok := m.parts[i].Find(addr); ok {
			return e.Value, true
		}
	}
	return 0, false
}

// read reads the lines from m.next on of a file that has some size now.
func (m *Map) read(size int64) {
	m.size = size
	if size > maxMap {
		size, m.err = maxMap, fmt.Errorf("it is larger than %d MiB: the names behind are left out", maxMap>>20)
	}
	var list []interval.Entry[int64]
	buffer := min(2*elffile.HoleSize, size-m.next+1)
	lines := bufio.NewReaderSize(io.NewSectionReader(elffile.Solid(m.file), m.next, size-m.next), int(buffer))
	for {
		text, failed := lines.ReadSlice('\n')
		n := int64(len(text))
		for failed == bufio.ErrBufferFull {
			text, failed = lines.ReadSlice('\n')
			n += int64(len(text))
		}
		if failed != nil {
			if n > MaxLine { // it is not read again when its end is there
				m.next, m.long = m.next+n, true
			}
			if failed != io.EOF {
				m.err = failed
			}
			break
		}
		if lo, hi, _, ok := Line(text); ok && n <= MaxLine && !m.long {
			if m.lines++; m.lines > maxLines {
				m.err = fmt.Errorf("it lists more than %d functions: the names behind are left out", maxLines)
				break
			}
			list = append(list, interval.Entry[int64]{Lo: lo, Hi: hi, Value: m.next})
		}
		m.next, m.long = m.next+n, false
	}
	slices.Reverse(list) // the last line counts
	if len(list) > 0 {
		m.parts = append(m.parts, interval.First(list))
	}
	if len(m.parts) > maxParts {
		m.join()
	}
}

// join makes one part of all.
func (m *Map) join() {
	var list []interval.Entry[int64]
	for i := range slices.Backward(m.parts) {
		list = slices.AppendSeq(list, m.parts[i].All())
	}
	m.parts = append(m.parts[:0], interval.First(list))
}
