// Package structs reads the structures of run times in the memory of a process.
package structs

import (
	"bytes"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/target"
)

// Reader reads structures. It keeps the pages that it has read: use one for memory of one moment.
// It is not safe for concurrent use.
//
// A process may lie about every pointer. What cannot be read is 0, and the first failure stays
// until Err is asked for it: so a reader of several fields looks once. Who follows pointers bounds
// his loops.
type Reader struct {
	Arch  *arch.Arch
	err   error
	spare *pages.Spare
	pages *pages.Pages
	room  [8]byte
}

// New returns a Reader of a memory. The room for its pages comes from spare, to which Free returns
// it.
func New(a *arch.Arch, m target.Memory, spare *pages.Spare) *Reader {
	return &Reader{Arch: a, spare: spare, pages: spare.Of(m)}
}

// Free says that r is not used any more.
func (r *Reader) Free() {
	r.spare.Free(r.pages)
	r.pages = nil
}

// Memory returns the memory, by the pages that r keeps. What it cannot read is no failure of r.
func (r *Reader) Memory() target.Memory { return r.pages }

// Err returns the first failure since it was asked last, nil if there was none.
func (r *Reader) Err() error {
	err := r.err
	r.err = nil
	return err
}

// OK reports whether nothing has failed since Err was asked last.
func (r *Reader) OK() bool { return r.err == nil }

// Fail notes a failure, such as a value that cannot be.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// Bytes fills p with the bytes at addr. It reports whether it could; else p is zero.
func (r *Reader) Bytes(addr uint64, p []byte) bool {
	if addr == 0 || addr+uint64(len(p)) < addr {
		clear(p)
		r.Fail("nothing can be at %#x", addr)
		return false
	}
	if n, err := r.pages.ReadMemory(addr, p); n < len(p) {
		clear(p)
		r.Fail("memory at %#x: %w", addr, err)
		return false
	}
	return true
}

// Uint reads a number of 1, 2, 4 or 8 bytes without a sign.
func (r *Reader) Uint(addr uint64, size int) uint64 {
	b := r.room[:size]
	if !r.Bytes(addr, b) {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.Arch.Order.Uint16(b))
	case 4:
		return uint64(r.Arch.Order.Uint32(b))
	default:
		return r.Arch.Order.Uint64(b)
	}
}

// Int reads a number of 1, 2, 4 or 8 bytes with its sign.
func (r *Reader) Int(addr uint64, size int) int64 {
	unused := 64 - 8*size
	return int64(r.Uint(addr, size)<<unused) >> unused
}

// Pointer reads a word of the process.
func (r *Reader) Pointer(addr uint64) uint64 { return r.Uint(addr, r.Arch.PtrSize) }

// MostText bounds texts, in bytes. What is longer is cut.
const MostText = 4 << 10

// Text reads a text of n bytes, at most [MostText].
func (r *Reader) Text(addr, n uint64) string {
	p := make([]byte, min(n, MostText))
	if !r.Bytes(addr, p) {
		return ""
	}
	return string(p)
}

// CString reads a text that ends with a zero, or its first [MostText] bytes.
func (r *Reader) CString(addr uint64) string {
	var text []byte
	var p [64]byte
	for len(text) < MostText {
		n, err := r.pages.ReadMemory(addr, p[:])
		if i := bytes.IndexByte(p[:n], 0); i >= 0 {
			return string(append(text, p[:i]...))
		}
		if n < len(p) {
			r.Fail("the text at %#x: %w", addr, err)
			return ""
		}
		text = append(text, p[:]...)
		addr += uint64(n)
	}
	return string(text)
}
