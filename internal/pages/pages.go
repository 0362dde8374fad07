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
	known map[uint64][]byte // by address: up to pagesSize bytes
	most  int               // so many of them
	last  uint64            // what was asked for last
	data  []byte

	rooms []*[roomSize]byte // all memory for pages
	used  int               // bytes of it
}

const (
	pagesSize = 4 << 12 // are read at once
	mostPages = 1 << 12 // times pagesSize
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
	if p.most = mostPages; s.Most > 0 {
		p.most = min(p.most, max(1, s.Most/pagesSize))
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

// room returns memory for some pages.
func (m *Pages) room() []byte {
	i, at := m.used/roomSize, m.used%roomSize
	if i == len(m.rooms) {
		m.rooms = append(m.rooms, new([roomSize]byte))
	}
	m.used += pagesSize
	return m.rooms[i][at : at+pagesSize : at+pagesSize]
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
	at := addr &^ (pagesSize - 1)
	if at != m.last || m.data == nil {
		data, known := m.known[at]
		if !known {
			if len(m.known) == m.most {
				m.forget()
			}
			data = m.room()
			n, _ := m.Memory.ReadMemory(at, data)
			data = data[:n]
			m.known[at] = data
		}
		m.last, m.data = at, data
	}
	return m.data[min(addr-at, uint64(len(m.data))):]
}
