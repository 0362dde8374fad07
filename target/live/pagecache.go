package live

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

const (
	pageSize  = 4096      // the smallest unit of memory that is readable or not
	chunkSize = 16 * 1024 // bytes that are read at once
	maxChunks = 256       // chunks that are kept
)

// pageCache reads a process's memory through a small cache. Unwinding reads neighbouring words,
// which then cost one system call together.
type pageCache struct {
	pid int
	// fetch reads from the process. It returns how many bytes, from the first on, could be read.
	// The error ErrExited says that nothing can be read any more.
	fetch func(addr uint64, p []byte) (n int, err error)

	last atomic.Pointer[chunk] // the chunk that was read last, so that neighbouring frames' code costs no lock

	mu     sync.RWMutex
	chunks map[uint64]*chunk
	order  [maxChunks]uint64 // a ring of the chunks' addresses; next is the oldest once it is full
	next   int
}

// chunk is chunkSize bytes of memory. Some of its pages may not be there.
type chunk struct {
	lo    uint64
	there uint8 // bit i is set if page i is readable
	data  [chunkSize]byte
}

// ReadMemory implements [target.Memory].
func (c *pageCache) ReadMemory(addr uint64, p []byte) (n int, err error) { return c.read(addr, p) }

func (c *pageCache) read(addr uint64, p []byte) (n int, err error) {
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

func (c *pageCache) chunk(lo uint64) (*chunk, error) {
	if k := c.last.Load(); k != nil && k.lo == lo {
		return k, nil
	}
	c.mu.RLock()
	k := c.chunks[lo]
	c.mu.RUnlock()
	if k != nil {
		c.last.Store(k)
		return k, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k = c.chunks[lo]; k != nil {
		return k, nil
	}
	k = &chunk{lo: lo}
	for off := uint64(0); off < chunkSize; {
		n, err := c.fetch(lo+off, k.data[off:])
		if err != nil {
			return nil, err // every read will fail like this one, so nothing is remembered
		}
		for end := off + uint64(n); off+pageSize <= end; off += pageSize {
			k.there |= 1 << (off / pageSize)
		}
		off += pageSize // skip the page that could not be read, or only in part
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
