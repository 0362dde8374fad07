package remote

import (
	"fmt"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// page is the unit in which memory is readable or not, bytes: no request crosses
// its bounds, so that what can be read is.
const page = 4096

// maxCached bounds what is kept of memory, bytes: of a deep stack, the inner part is not
// needed any more.
const maxCached = 8 << 20

// memory reads the target's memory in blocks, and keeps them: the target stands
// still, and every round trip costs.
type memory struct {
	s     *session
	block uint64 // bytes of one request, a power of two

	mu     sync.Mutex
	blocks map[uint64][]byte // by address / block: as much of each as could be read
	came   []uint64          // the keys of blocks in the order in which they came, as a ring
	oldest int               // of came, once there is no room for more
	spare  []byte            // for the next block
}

func newMemory(s *session) *memory {
	// m's answer has two digits a byte, x's may escape every one.
	room := uint64(s.packetSize-64) / 2
	block := uint64(page)
	for block > room && block > 64 {
		block /= 2
	}
	return &memory{s: s, block: block, blocks: make(map[uint64][]byte)}
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) { return m.read(addr, p, nil) }

// read reads memory, for the stack of a thread unless that is nil.
func (m *memory) read(addr uint64, p []byte, of *Thread) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n < len(p) {
		at := addr + uint64(n)
		if n > 0 && at == 0 {
			return n, target.ErrUnmapped // around the end of the address space
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

// fetch returns a block, as much of it as there is.
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

// keep keeps a block, in the place of the oldest one where there are many.
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

// forget drops what was read: the target has moved on.
func (m *memory) forget(threads []*Thread) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, th := range threads {
		th.took, th.over = 0, false
	}
	clear(m.blocks)
	m.came, m.oldest = m.came[:0], 0
}

// readMemory asks the stub. It returns how many bytes there are; an error is of
// the connection.
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
