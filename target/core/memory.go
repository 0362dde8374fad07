package core

import (
	"debug/elf"
	"io"
	"sort"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// segment is a range of the process's addresses. The core has the beginning of it, or all.
type segment struct {
	lo, hi uint64
	off    uint64 // offset of lo in the core, bytes
	has    uint64 // how many bytes, from lo on, the core has
	flags  elf.ProgFlag
}

// segments is the memory that the core itself has.
type segments struct {
	list []segment // ascending by lo
	r    io.ReaderAt

	mu     sync.RWMutex
	chunks map[uint64][]byte // lent copies by address
}

const (
	chunkSize = 64 << 10 // bytes that are lent at once
	maxChunks = 128      // copies that are kept; when a walk is far out on a deep stack, it no longer needs the inner part
)

func (f *file) memory() *segments {
	m := &segments{r: f.r}
	for _, p := range f.progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 || p.Vaddr+p.Memsz < p.Vaddr {
			continue
		}
		s := segment{lo: p.Vaddr, hi: p.Vaddr + p.Memsz, off: p.Off, flags: p.Flags}
		if p.Off < uint64(f.size) {
			s.has = min(p.Filesz, p.Memsz, uint64(f.size)-p.Off)
		}
		m.list = append(m.list, s)
	}
	sort.SliceStable(m.list, func(i, j int) bool { return m.list[i].lo < m.list[j].lo })
	return m
}

// find returns the segment that holds an address, nil if there is none.
func (m *segments) find(addr uint64) *segment {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].lo > addr })
	if i > 0 && addr < m.list[i-1].hi {
		return &m.list[i-1]
	}
	return nil
}

// ReadMemory implements [target.Memory].
func (m *segments) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		s := m.find(at)
		if s == nil || at-s.lo >= s.has {
			return n, target.ErrUnmapped
		}
		want := p[n:min(uint64(len(p)), uint64(n)+s.has-(at-s.lo))]
		got, err := m.r.ReadAt(want, int64(s.off+at-s.lo))
		n += got
		if got < len(want) {
			return n, err
		}
	}
	return n, nil
}

// Window implements [target.CopiedMemory].
func (m *segments) Window(addr uint64) (lo uint64, data []byte) {
	s := m.find(addr)
	if s == nil || addr-s.lo >= s.has {
		return 0, nil
	}
	off := (addr - s.lo) &^ (chunkSize - 1)
	lo = s.lo + off
	m.mu.RLock()
	data = m.chunks[lo]
	m.mu.RUnlock()
	if data != nil {
		return lo, data
	}
	data = make([]byte, min(chunkSize, s.has-off))
	if n, _ := m.r.ReadAt(data, int64(s.off+off)); n < len(data) {
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

// overlay is the whole memory. It has the core's own bytes and, for unwritable memory that the core
// leaves out, those of the mapped files.
type overlay struct {
	own     *segments
	modules *target.Modules
}

// Window implements [target.CopiedMemory]. It lends the core's own bytes only.
func (m *overlay) Window(addr uint64) (lo uint64, data []byte) { return m.own.Window(addr) }

// ReadMemory implements [target.Memory].
func (m *overlay) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		got, err := m.own.ReadMemory(addr+uint64(n), p[n:])
		if n += got; n == len(p) {
			break
		}
		if got = m.fromFile(addr+uint64(n), p[n:]); got == 0 {
			return n, err
		}
		n += got
	}
	return n, nil
}

// fromFile reads from the file that is mapped at addr, up to the next bytes that the core has
// itself.
func (m *overlay) fromFile(addr uint64, p []byte) int {
	if s := m.own.find(addr); s != nil {
		if s.flags&elf.PF_W != 0 {
			return 0 // the process may have written to it
		}
		p = p[:min(uint64(len(p)), s.hi-addr)]
	} else if i := sort.Search(len(m.own.list), func(i int) bool { return m.own.list[i].lo > addr }); i < len(m.own.list) {
		p = p[:min(uint64(len(p)), m.own.list[i].lo-addr)]
	}
	module := m.modules.FindFile(addr)
	if module == nil {
		return 0
	}
	im, bias, err := module.Image()
	if err != nil {
		return 0
	}
	return im.ReadLoaded(addr-bias, p)
}
