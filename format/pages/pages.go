// Package pages has bytes of a file that are read page by page, when they are first asked for. Who
// looks up a few entries of a large table reads a few pages of it.
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
	data []byte // all bytes, if they are not paged
	size int

	r     io.ReaderAt // nil if data has all bytes
	mu    sync.Mutex  // over reading
	pages []atomic.Pointer[[Size]byte]
}

// New returns the first n bytes that r reads. It reads nothing yet.
func New(r io.ReaderAt, n int) *Bytes {
	return &Bytes{size: n, r: r, pages: make([]atomic.Pointer[[Size]byte], n/Size+min(n%Size, 1))}
}

// Of returns bytes that are all there.
func Of(data []byte) *Bytes { return &Bytes{data: data, size: len(data)} }

// Len returns the number of bytes.
func (b *Bytes) Len() int { return b.size }

// Paged reports whether the bytes are read as they are needed. Otherwise, View(0, Len()) costs
// nothing.
func (b *Bytes) Paged() bool { return b.r != nil }

// View returns the bytes from an offset to another. They must not be changed. ok is false if they
// cannot be read, or are not within b. View allocates where bytes lie on several pages.
func (b *Bytes) View(from, to int) (view []byte, ok bool) {
	switch {
	case from < 0 || from > to || to > b.size:
		return nil, false
	case b.r == nil:
		return b.data[from:to:to], true
	case from == to:
		return nil, true
	}
	first, last := from/Size, (to-1)/Size
	if first == last {
		page := b.page(first)
		if page == nil {
			return nil, false
		}
		off := from % Size
		return page[off : off+to-from : off+to-from], true
	}
	view = make([]byte, 0, to-from)
	for i := first; i <= last; i++ {
		page := b.page(i)
		if page == nil {
			return nil, false
		}
		view = append(view, page[max(from-i*Size, 0):min(to-i*Size, Size)]...)
	}
	return view, true
}

// page returns a page, nil if it cannot be read. Behind the last byte, it has zeros.
func (b *Bytes) page(i int) *[Size]byte {
	if page := b.pages[i].Load(); page != nil {
		return page
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if page := b.pages[i].Load(); page != nil {
		return page
	}
	page := new([Size]byte)
	n := min(Size, b.size-i*Size)
	if got, _ := b.r.ReadAt(page[:n], int64(i)*Size); got < n {
		return nil
	}
	b.pages[i].Store(page)
	return page
}

// Window returns bytes from offset from on, and keeps none: call it to go once through many pages.
// It returns as many bytes as buf holds, or fewer at the end; where b is in memory, all that are
// left, and buf is not used. from is at most Len. If not all can be read, the error says why, and
// the bytes before are there.
func (b *Bytes) Window(from int, buf []byte) ([]byte, error) {
	if b.r == nil {
		return b.data[from:], nil
	}
	buf = buf[:min(len(buf), b.size-from)]
	n, err := b.r.ReadAt(buf, int64(from))
	if n == len(buf) {
		err = nil
	} else if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return buf[:n], err
}
