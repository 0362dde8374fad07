package perfdata

import (
	"encoding/binary"
	"fmt"
)

// chunkSize is how much is read at once: room for the largest record many times over. A small file
// takes less, but not below leastChunk.
const (
	chunkSize  = 1 << 20
	leastChunk = 160 << 10
)

// chunk is a piece of the file, or of what was decompressed. Records that wait for their turn lie
// in it.
type chunk struct {
	b       []byte
	waiting int // records
}

// buffer has the bytes of records, from where the next one begins to where the last one may be
// incomplete.
type buffer struct {
	at         *chunk
	start, end int // in at.b
	pool       *pool
}

// pool keeps chunks in which no record waits.
type pool struct {
	free []*chunk
	size int // of each, bytes
}

// room returns room for n more bytes at least, of which the caller says by filled how many it has
// used.
func (b *buffer) room(n int) []byte {
	if b.at == nil || len(b.at.b)-b.end < n {
		rest := []byte(nil)
		if b.at != nil {
			rest = b.at.b[b.start:b.end]
		}
		next := b.get(len(rest) + n)
		copy(next.b, rest)
		old := b.at
		b.at, b.start, b.end = next, 0, len(rest)
		if old != nil {
			b.put(old)
		}
	}
	return b.at.b[b.end:]
}

func (b *buffer) filled(n int) { b.end += n }

func (b *buffer) get(n int) *chunk {
	p := b.pool
	if n > p.size {
		return &chunk{b: make([]byte, n)}
	}
	if len(p.free) > 0 {
		c := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		return c
	}
	return &chunk{b: make([]byte, p.size)}
}

// put takes back a chunk in which no record waits.
func (b *buffer) put(c *chunk) {
	if p := b.pool; c != b.at && c.waiting == 0 && len(c.b) == p.size && len(p.free) < 16 {
		p.free = append(p.free, c)
	}
}

// next returns the next record with its header; nil if it is not whole yet.
func (b *buffer) next(order binary.ByteOrder) ([]byte, error) {
	have := b.end - b.start
	if have < 8 {
		return nil, nil
	}
	size := int(order.Uint16(b.at.b[b.start+6:]))
	if size < 8 {
		return nil, fmt.Errorf("a record has %d bytes", size)
	}
	if size > have {
		return nil, nil
	}
	r := b.at.b[b.start : b.start+size : b.start+size]
	b.start += size
	return r, nil
}

// left returns how many bytes follow the last record.
func (b *buffer) left() int { return b.end - b.start }

// skip passes over at most n bytes, and returns how many.
func (b *buffer) skip(n uint64) uint64 {
	n = min(n, uint64(b.left()))
	b.start += int(n)
	return n
}
