package remote

import (
	"fmt"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// page is the unit of memory protection, bytes. No request crosses a page boundary, so that an
// unreadable page never hides a readable one.
const page = 4096

// maxCached bounds the memory that is kept, bytes. When a walk is far out on a deep stack, it no
// longer needs the inner part.
const maxCached = 8 << 20

// memory reads the target's memory in blocks, and keeps them, because the target stands still and
// every round trip takes time.
type memory struct {
	s     *session
	block uint64 // bytes of one request, a power of two

	mu     sync.Mutex
	blocks map[uint64][]byte // by address / block: as much of each as could be read
	came   []uint64          // the keys of blocks in the order of arrival; a ring, once it is full
	oldest int               // index in came of the oldest block, once came is full
	spare  []byte            // room for the next block
}

func newMemory(s *session) *memory {
	// The answer to m has two digits a byte; the answer to x may escape every byte.
	room := uint64(s.packetSize-64) / 2
	block := uint64(page)
	for block > room && block > 64 {
		block /= 2
	}
	return &memory{s: s, block: block, blocks: make(map[uint64][]byte)}
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) { return m.read(addr, p, nil) }

// read reads memory. If of is not nil, the read is for its stack, and counts against its limit of
// time.
func (m *memory) read(addr uint64, p []byte, of *Thread) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n < len(p) {
		at := addr + uint64(n)
		if n > 0 && at == 0 {
			return n, target.ErrUnmapped // p wraps around the end of the address space
		}
		b, err := m.fetch(at/m.block, of)
		if err != nil {
			return n, err
		}
		if off := at % m.block; off < uint64(len(b)) {
			n += copy(p[n:], b[off:])
			if uint64(len(b)) == m.block {
				continue
			}
		}
		if n < len(p) && (at%m.block >= uint64(len(b)) || uint64(len(b)) < m.block) {
			return n, target.ErrUnmapped
		}
	}
	return n, nil
}

// fetch returns the readable beginning of a block.
func (m *memory) fetch(index uint64, of *Thread) ([]byte, error) {
	if b, ok := m.blocks[index]; ok {
		return b, nil
	}
	if of != nil {
		if limit := of.t.threadLimit; limit > 0 && of.took >= limit {
			of.over = true
			return nil, of.overtime()
		}
		since := m.s.link.now()
		defer func() { of.took += m.s.link.now().Sub(since) }()
	}
	if m.spare == nil {
		m.spare = make([]byte, m.block)
	}
	n, err := m.s.readMemory(index*m.block, m.spare)
	if err != nil {
		return nil, err
	}
	b := m.spare[:n]
	m.keep(index, b)
	return b, nil
}

// keep keeps a block. If there are too many, b replaces the oldest one.
func (m *memory) keep(index uint64, b []byte) {
	m.spare = nil
	if uint64(len(m.came)) < maxCached/m.block {
		m.came = append(m.came, index)
	} else {
		old := m.came[m.oldest]
		m.spare = m.blocks[old][:m.block]
		delete(m.blocks, old)
		m.came[m.oldest] = index
		m.oldest = (m.oldest + 1) % len(m.came)
	}
	m.blocks[index] = b
}

// forget drops all blocks, because the target has run.
func (m *memory) forget(threads []*Thread) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, th := range threads {
		th.took, th.over = 0, false
	}
	m.drop()
}

// readMemory asks the stub for memory, and returns how many bytes are readable. An error means that
// the connection failed.
func (s *session) readMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		packet, binary := "m", false
		if s.features["binary-upload"] {
			packet, binary = "x", true
		}
		reply, err := s.exchange(fmt.Sprintf("%s%x,%x", packet, addr+uint64(n), len(p)-n))
		if err != nil {
			return n, fmt.Errorf("read memory at %#x: %w", addr, err)
		}
		got := 0
		switch {
		case binary && len(reply) > 0 && reply[0] == 'b':
			got = copy(p[n:], reply[1:])
		case len(reply) > 0 && reply[0] == 'E' && len(reply)%2 == 1:
			return n, nil
		case !binary:
			got = unhex(p[n:], reply)
		}
		if got == 0 {
			return n, nil
		}
		n += got
	}
	return n, nil
}
