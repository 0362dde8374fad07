package segments

import (
	"debug/elf"
	"io"
	"sort"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// Segment is a range of the process's addresses. The file has the beginning of it, or all.
type Segment struct {
	Lo, Hi uint64
	Off    uint64 // offset of Lo in the file, bytes
	Has    uint64 // how many bytes, from Lo on, the file has
	Flags  elf.ProgFlag
}

// Memory is the memory that the file itself has.
type Memory struct {
	List []Segment // ascending by Lo
	r    io.ReaderAt

	mu     sync.RWMutex
	chunks map[uint64][]byte // lent copies by address
}

const (
	chunkSize = 64 << 10 // bytes that are lent at once
	maxChunks = 128      // copies that are kept; when a walk is far out on a deep stack, it no longer needs the inner part
)

// lender is a file in memory. Lend returns nil if the file does not have all of the n bytes.
type lender interface{ Lend(off, n uint64) []byte }

// New returns the memory of the segments of r, in any order. Of segments that overlap, the one that
// begins last counts.
func New(r io.ReaderAt, list []Segment) *Memory {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Lo < list[j].Lo })
	return &Memory{List: list, r: r}
}

// Find returns the segment that holds an address, nil if there is none.
func (m *Memory) Find(addr uint64) *Segment {
	i := sort.Search(len(m.List), func(i int) bool { return m.List[i].Lo > addr })
	if i > 0 && addr < m.List[i-1].Hi {
		return &m.List[i-1]
	}
	return nil
}

// ReadMemory implements [target.Memory].
func (m *Memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		s := m.Find(at)
		if s == nil || at-s.Lo >= s.Has {
			return n, target.ErrUnmapped
		}
		want := p[n:min(uint64(len(p)), uint64(n)+s.Has-(at-s.Lo))]
		got, err := m.r.ReadAt(want, int64(s.Off+at-s.Lo))
		n += got
		if got < len(want) {
			return n, err
		}
	}
	return n, nil
}

// Window implements [target.CopiedMemory].
func (m *Memory) Window(addr uint64) (lo uint64, data []byte) {
	s := m.Find(addr)
	if s == nil || addr-s.Lo >= s.Has {
		return 0, nil
	}
	if file, ok := m.r.(lender); ok {
		return s.Lo, file.Lend(s.Off, s.Has)
	}
	off := (addr - s.Lo) &^ (chunkSize - 1)
	lo = s.Lo + off
	m.mu.RLock()
	data = m.chunks[lo]
	m.mu.RUnlock()
	if data != nil {
		return lo, data
	}
	data = make([]byte, min(chunkSize, s.Has-off))
	if n, _ := m.r.ReadAt(data, int64(s.Off+off)); n < len(data) {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.chunks == nil || len(m.chunks) == maxChunks {
		m.chunks = make(map[uint64][]byte)
	}
	m.chunks[lo] = data
	return lo, data
}
