package perfdata

import (
	"encoding/binary"
	"fmt"
)

// chunkSize is how much is read at once: room for the largest record many times over.
const chunkSize = 1 << 20

// chunk is a piece of the file, or of what was decompressed. Records that wait for their turn lie in it.
type chunk struct {
	b       []byte
	waiting int // records
}

// buffer has the bytes of records, from where the next one begins to where the last one may be incomplete.
type buffer struct {
	at         *chunk
	start, end int // in at.b
	free       *[]*chunk
}

// room returns room for n more bytes at least, of which the caller says by filled how many it has used.
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
	if n > chunkSize {
		return &chunk{b: make([]byte, n)}
	}
	if list := *b.free; len(list) > 0 {
		c := list[len(list)-1]
		*b.free = list[:len(list)-1]
		return c
	}
	return &chunk{b: make([]byte, chunkSize)}
}

// put takes back a chunk in which no record waits.
func (b *buffer) put(c *chunk) {
	if c != b.at && c.waiting == 0 && len(c.b) == chunkSize && len(*b.free) < 16 {
		*b.free = append(*b.free, c)
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

// take returns n bytes that follow the last record; nil if they are not there yet.
func (b *buffer) left() int { return b.end - b.start }

// skip passes over at most n bytes, and returns how many.
func (b *buffer) skip(n uint64) uint64 {
	n = min(n, uint64(b.left()))
	b.start += int(n)
	return n
}
