// Package pages keeps the memory that one look at a process's objects has read.
package pages

import (
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// Pages are what was read of a memory in one look at it: objects lie near each other, and each read
// of a process is a system call. At most 64 MiB are kept, or [Spare.Most]. It is not safe for
// concurrent use.
type Pages struct {
	target.Memory
	known map[uint64][]byte // by the address of each: as far as was read with it
	most  int               // bytes of rooms
	last  uint64            // what was asked for last
	data  []byte

	rooms []*[roomSize]byte // all memory for pages
	used  int               // bytes of it
}

const (
	pageSize  = 1 << 12
	together  = 4 // pages are read at once where the one before them was needed, too
	mostBytes = 64 << 20
	roomSize  = 1 << 20
)

// Spare has pages that nobody reads. The process is looked at twice, the second time while it is
// held: then there need be no new memory for the pages. It is safe for concurrent use.
type Spare struct {
	// Most is how many bytes are kept at most, if not 0, for one who reads much memory once.
	Most int

	mu    sync.Mutex
	pages *Pages // nil for none
}

// Of returns pages of a memory, of which none is read yet. Who has read them calls Free.
func (s *Spare) Of(m target.Memory) *Pages {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages
	if s.pages = nil; p == nil {
		p = &Pages{known: map[uint64][]byte{}}
	}
	p.Memory = m
	if p.most = mostBytes; s.Most > 0 {
		p.most = min(p.most, max(s.Most, together*pageSize))
	}
	return p
}

// Free says that p is not read any more.
func (s *Spare) Free(p *Pages) {
	p.Memory = nil
	p.forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = p
}

func (m *Pages) forget() {
	clear(m.known)
	m.last, m.data, m.used = 0, nil, 0
}

// room returns memory for n pages, or for fewer: they lie in one piece.
func (m *Pages) room(n int) []byte {
	i, at := m.used/roomSize, m.used%roomSize
	if i == len(m.rooms) {
		m.rooms = append(m.rooms, new([roomSize]byte))
	}
	size := min(n*pageSize, roomSize-at)
	m.used += size
	return m.rooms[i][at : at+size : at+size]
}

// ReadMemory implements [target.Memory].
func (m *Pages) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		got := 0
		if at >= addr {
			got = copy(p[n:], m.from(at))
		}
		if n += got; got == 0 { // there may be more behind what cannot be read
			more, err := m.Memory.ReadMemory(at, p[n:])
			return n + more, err
		}
	}
	return n, nil
}

// from returns the bytes from an address on, as far as they were read together.
func (m *Pages) from(addr uint64) []byte {
	if addr-m.last < uint64(len(m.data)) {
		return m.data[addr-m.last:]
	}
	at := addr &^ (pageSize - 1)
	data, known := m.known[at]
	if !known {
		data = m.read(at)
	}
	m.last, m.data = at, data
	return data[min(addr-at, uint64(len(data))):]
}

// read reads the page at an address, and some behind it if the memory is read in a row: a system
// call takes as long as two pages. Objects that lie anywhere are not worth more than their page.
func (m *Pages) read(at uint64) []byte {
	if m.used+together*pageSize > m.most {
		m.forget()
	}
	n := 1
	if _, row := m.known[at-pageSize]; row {
		for n < together {
			if _, known := m.known[at+uint64(n)*pageSize]; known {
				break
			}
			n++
		}
	}
	data := m.room(n)
	got, _ := m.Memory.ReadMemory(at, data)
	unused := (len(data) - max(got, 1)) &^ (pageSize - 1)
	m.used -= unused
	data = data[:got]
	m.known[at] = data
	for i := pageSize; i < got; i += pageSize {
		m.known[at+uint64(i)] = data[i:]
	}
	return data
}
