// Package pages has bytes of a file that are read page by page, when they are first asked for. Who looks
// up a few entries of a large table reads a few pages of it.
package pages

import (
	"io"
	"sync"
	"sync/atomic"
)

// Size is the size of a page in bytes.
const Size = 4096

// Bytes are the bytes of a part of a file. They are safe for concurrent use.
type Bytes struct {
	// Data has room for all bytes. Those alone hold that Fill has returned true for. Nobody changes them
	// afterwards.
	Data []byte

	r     io.ReaderAt // nil if Data has all bytes
	mu    sync.Mutex  // over reading
	there []atomic.Uint64
}

// New returns the first n bytes that r reads. It reads nothing yet. The system gives memory for the pages
// alone that are read.
func New(r io.ReaderAt, n int) *Bytes {
	pages := (n + Size - 1) / Size
	return &Bytes{Data: make([]byte, n), r: r, there: make([]atomic.Uint64, (pages+63)/64)}
}

// Of returns bytes that are all there.
func Of(data []byte) *Bytes { return &Bytes{Data: data} }

// Whole reports whether all bytes are there: callers need not ask for them.
func (b *Bytes) Whole() bool { return b.r == nil }

// Fill reads Data[from:to], as far as it is not there yet. It returns false if these bytes cannot be read, or
// lie outside Data.
func (b *Bytes) Fill(from, to int) bool {
	if b.r == nil || from >= to {
		return 0 <= from && from <= to && to <= len(b.Data)
	}
	first, last := from/Size, (to-1)/Size
	if from < 0 || to > len(b.Data) {
		return false
	}
	return first == last && b.has(first) || b.fill(first, last)
}

func (b *Bytes) has(page int) bool { return b.there[page>>6].Load()>>(page&63)&1 != 0 }

func (b *Bytes) fill(first, last int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for page := first; page <= last; {
		if b.has(page) {
			page++
			continue
		}
		end := page + 1
		for end <= last && !b.has(end) {
			end++
		}
		if n, _ := b.r.ReadAt(b.Data[page*Size:min(end*Size, len(b.Data))], int64(page)*Size); n < min(end*Size, len(b.Data))-page*Size {
			return false
		}
		for ; page < end; page++ {
			b.there[page>>6].Or(1 << (page & 63))
		}
	}
	return true
}

// Window returns bytes from offset from on that are not kept: as many as buf holds, or all that are left if they
// are there anyway. The error is that of reading; nil comes with at least one byte, unless from is the end.
func (b *Bytes) Window(from int, buf []byte) ([]byte, error) {
	if b.r == nil {
		return b.Data[from:], nil
	}
	buf = buf[:min(len(buf), len(b.Data)-from)]
	n, err := b.r.ReadAt(buf, int64(from))
	if n == len(buf) {
		err = nil
	} else if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return buf[:n], err
}
