package live

import (
	"fmt"
	"sort"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// span is a range of addresses [lo, hi).
type span struct{ lo, hi uint64 }

// block is a copy of memory.
type block struct {
	lo   uint64
	data []byte
}

func (b *block) hi() uint64 { return b.lo + uint64(len(b.data)) }

// memory is a process's address space: copies made at one moment, and behind
// them the process as it is now.
type memory struct {
	copies []block // ascending, disjoint; never changed once the target is made
	live   *pages
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at, rest := addr+uint64(n), p[n:]
		if at < addr {
			return n, fmt.Errorf("read %d bytes at %#x: the address space ends: %w", len(p), addr, target.ErrUnmapped)
		}
		i := m.find(at)
		if i < len(m.copies) {
			b := &m.copies[i]
			if b.lo <= at {
				n += copy(rest, b.data[at-b.lo:])
				continue
			}
			if room := b.lo - at; room < uint64(len(rest)) {
				rest = rest[:room]
			}
		}
		got, err := m.live.read(at, rest)
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Window implements [target.Lender].
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	if i := m.find(addr); i < len(m.copies) && m.copies[i].lo <= addr {
		return m.copies[i].lo, m.copies[i].data
	}
	return 0, nil
}

// find returns the position of the first copy that ends above addr.
func (m *memory) find(addr uint64) int {
	return sort.Search(len(m.copies), func(i int) bool { return m.copies[i].hi() > addr })
}

// copied returns what is copied from addr on, as far as it is in one block.
func (m *memory) copied(addr uint64) []byte {
	if i := m.find(addr); i < len(m.copies) && m.copies[i].lo <= addr {
		return m.copies[i].data[addr-m.copies[i].lo:]
	}
	return nil
}

// missing returns the parts of the wanted ranges that are in no copy yet,
// ascending and disjoint.
func (m *memory) missing(want []span) (parts []span) {
	sort.Slice(want, func(i, j int) bool { return want[i].lo < want[j].lo })
	at := uint64(0)
	for _, w := range want {
		at = max(at, w.lo)
		for i := m.find(at); at < w.hi && i < len(m.copies) && m.copies[i].lo < w.hi; i++ {
			if at < m.copies[i].lo {
				parts = append(parts, span{at, m.copies[i].lo})
			}
			at = m.copies[i].hi()
		}
		if at < w.hi {
			parts = append(parts, span{at, w.hi})
			at = w.hi
		}
	}
	return parts
}

// add puts more copies in, which overlap none.
func (m *memory) add(blocks []block) {
	m.copies = append(m.copies, blocks...)
	sort.Slice(m.copies, func(i, j int) bool { return m.copies[i].lo < m.copies[j].lo })
}

const (
	pageSize  = 4096      // the finest grain at which memory is there or not
	chunkSize = 16 * 1024 // read at once
	maxChunks = 256       // kept
)

// pages reads a process's memory through a small cache: neighbouring words,
// which is what unwinding asks for, cost one system call, not one each.
type pages struct {
	pid int
	// fetch reads from the process: how many bytes from the first on could be
	// read. An error says that nothing can be read any more: ErrExited.
	fetch func(addr uint64, p []byte) (n int, err error)

	mu     sync.RWMutex
	chunks map[uint64]*chunk
	order  [maxChunks]uint64 // the chunks' addresses; next is the oldest once it is full
	next   int
}

// chunk is chunkSize bytes of memory, of which some pages may not be there.
type chunk struct {
	there uint8 // bit i: page i
	data  [chunkSize]byte
}

func (c *pages) read(addr uint64, p []byte) (n int, err error) {
	if len(p) >= chunkSize {
		n, err = c.fetch(addr, p)
	}
	for err == nil && n < len(p) {
		at := addr + uint64(n)
		var k *chunk
		if k, err = c.chunk(at &^ (chunkSize - 1)); err != nil {
			break
		}
		off := at & (chunkSize - 1)
		if k.there&(1<<(off/pageSize)) == 0 {
			break
		}
		n += copy(p[n:], k.data[off:(off|(pageSize-1))+1])
	}
	if n == len(p) {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read memory of process %d at %#x: %w: %w", c.pid, addr+uint64(n), err, target.ErrUnmapped)
	}
	return n, fmt.Errorf("read %d bytes at %#x: nothing readable at %#x: %w", len(p), addr, addr+uint64(n), target.ErrUnmapped)
}

func (c *pages) chunk(lo uint64) (*chunk, error) {
	c.mu.RLock()
	k := c.chunks[lo]
	c.mu.RUnlock()
	if k != nil {
		return k, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k = c.chunks[lo]; k != nil {
		return k, nil
	}
	k = new(chunk)
	for off := uint64(0); off < chunkSize; {
		n, err := c.fetch(lo+off, k.data[off:])
		if err != nil {
			return nil, err // of no use to remember: every read will say so
		}
		for end := off + uint64(n); off+pageSize <= end; off += pageSize {
			k.there |= 1 << (off / pageSize)
		}
		off += pageSize // the page that could not be read, or could in part only
	}
	if c.chunks == nil {
		c.chunks = make(map[uint64]*chunk)
	}
	if len(c.chunks) == maxChunks {
		delete(c.chunks, c.order[c.next])
	}
	c.order[c.next], c.next = lo, (c.next+1)%maxChunks
	c.chunks[lo] = k
	return k, nil
}
