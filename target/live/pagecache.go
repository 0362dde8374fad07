package live

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

const (
	pageSize  = 4096 // the smallest unit of memory that is readable or not, and what is read of a chunk first
	perChunk  = 4    // pages
	chunkSize = perChunk * pageSize
	maxChunks = 256 // chunks that are kept
)

// pageCache reads a process's memory through a small cache. Unwinding reads neighbouring words,
// which then cost one system call together. Of most files it reads the code behind one call, which
// is on one page.
type pageCache struct {
	pid int
	// fetch reads from the process. It returns how many bytes, from the first on, could be read.
	// The error ErrExited says that nothing can be read any more.
	fetch func(addr uint64, p []byte) (n int, err error)
	whole bool // all pages of a chunk are read at once: a snapshot has them, and compares code with files by them

	last atomic.Pointer[chunk] // the chunk that was read last, so that neighbouring frames' code costs no lock

	mu     sync.RWMutex
	chunks map[uint64]*chunk
	order  [maxChunks]uint64 // a ring of the chunks' addresses; next is the oldest once it is full
	next   int
}

// chunk has some pages of chunkSize bytes of memory. It never changes.
type chunk struct {
	lo    uint64
	asked uint8            // bit i is set if page i was read
	pages [perChunk][]byte // nil if the page was not read, or is not readable
}

// ReadMemory implements [target.Memory].
func (c *pageCache) ReadMemory(addr uint64, p []byte) (n int, err error) { return c.read(addr, p) }

func (c *pageCache) read(addr uint64, p []byte) (n int, err error) {
	if len(p) >= chunkSize {
		n, err = c.fetch(addr, p)
	}
	for err == nil && n < len(p) {
		at := addr + uint64(n)
		var page []byte
		if page, err = c.page(at); err != nil || page == nil {
			break
		}
		n += copy(p[n:], page[at%pageSize:])
	}
	if n == len(p) {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read memory of process %d at %#x: %w: %w", c.pid, addr+uint64(n), err, target.ErrUnmapped)
	}
	return n, fmt.Errorf("read %d bytes at %#x: nothing readable at %#x: %w", len(p), addr, addr+uint64(n), target.ErrUnmapped)
}

// page returns the page that holds an address, nil if it is not readable.
func (c *pageCache) page(addr uint64) ([]byte, error) {
	lo, i := addr&^(chunkSize-1), addr%chunkSize/pageSize
	if k := c.last.Load(); k != nil && k.lo == lo && k.asked>>i&1 != 0 {
		return k.pages[i], nil
	}
	c.mu.RLock()
	k := c.chunks[lo]
	c.mu.RUnlock()
	if k == nil || k.asked>>i&1 == 0 {
		var err error
		if k, err = c.more(lo, i); err != nil {
			return nil, err
		}
	}
	c.last.Store(k)
	return k.pages[i], nil
}

// more reads page i of the chunk at lo, and the pages behind it if it is not the chunk's first.
func (c *pageCache) more(lo, i uint64) (*chunk, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.chunks[lo]
	if old != nil && old.asked>>i&1 != 0 {
		return old, nil
	}
	k, end := &chunk{lo: lo}, i+1
	if c.whole {
		i, end = 0, perChunk
	} else if old != nil {
		*k = *old
		for end < perChunk && k.asked>>end&1 == 0 {
			end++
		}
	}
	room := make([]byte, (end-i)*pageSize)
	for i < end {
		n, err := c.fetch(lo+i*pageSize, room)
		if err != nil {
			return nil, err // every read will fail like this one, so nothing is remembered
		}
		for ; n >= pageSize; n -= pageSize {
			k.pages[i], room = room[:pageSize:pageSize], room[pageSize:]
			k.asked |= 1 << i
			i++
		}
		if i < end { // a page that cannot be read, or only in part
			k.asked |= 1 << i
			room = room[pageSize:]
			i++
		}
	}
	switch {
	case c.chunks == nil:
		c.chunks = make(map[uint64]*chunk)
	case old != nil:
	case len(c.chunks) == maxChunks:
		delete(c.chunks, c.order[c.next])
	}
	if old == nil {
		c.order[c.next], c.next = lo, (c.next+1)%maxChunks
	}
	c.chunks[lo] = k
	return k, nil
}
