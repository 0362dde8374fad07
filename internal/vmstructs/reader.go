package vmstructs

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// Reader reads the virtual machine's own memory. It is not safe for concurrent use.
type Reader struct {
	Memory target.Memory
	Order  binary.ByteOrder
	room   [MostRead]byte
	lines  *lines // nil if nothing is kept
}

// NewReader returns a Reader that keeps some of what it has read: use it for memory of one moment,
// and for much that lies together. The frames of a stack lead to the same structures over and over.
// A caller that makes many calls Free at the end.
func NewReader(m target.Memory, o binary.ByteOrder) *Reader {
	r := readers.Get().(*Reader)
	r.Memory, r.Order = m, o
	r.lines.of = [mostLines]uint64{}
	return r
}

// Free says that nothing is read any more, nor any slice used that Read has returned.
func (r *Reader) Free() {
	r.Memory = nil
	readers.Put(r)
}

// readers has readers that nobody uses: they are large for the little that many read.
var readers = sync.Pool{New: func() any { return &Reader{lines: new(lines)} }}

const (
	mostLines = 64
	lineSize  = 64 // bytes; a page has a whole number of lines
)

// lines are pieces of memory that were read, each from a multiple of lineSize on.
type lines struct {
	of   [mostLines]uint64 // the address of each; 0 if there is none
	data [mostLines][lineSize]byte
}

// line returns the line that has addr, nil if not all of it can be read.
func (r *Reader) line(addr uint64) *[lineSize]byte {
	lo := addr &^ (lineSize - 1)
	i := lo / lineSize % mostLines
	x := &r.lines.data[i]
	if r.lines.of[i] != lo || lo == 0 {
		r.lines.of[i] = 0
		if n, _ := r.Memory.ReadMemory(lo, x[:]); n < lineSize {
			return nil
		}
		r.lines.of[i] = lo
	}
	return x
}

// MostRead bounds what [Reader.Read] reads at once, in bytes.
const MostRead = 256

// Read returns up to n bytes at addr, fewer if the memory ends before, at most [MostRead]. The
// slice is valid until the next read.
func (r *Reader) Read(addr uint64, n int) []byte {
	n = min(n, len(r.room))
	if addr == 0 || addr+uint64(n) < addr {
		return nil
	}
	if at := int(addr % lineSize); r.lines != nil && at+n <= lineSize {
		if x := r.line(addr); x != nil {
			return x[at : at+n : at+n]
		}
	}
	n, _ = r.Memory.ReadMemory(addr, r.room[:n])
	return r.room[:n]
}

// Word reads a pointer at addr.
func (r *Reader) Word(addr uint64) (v uint64, ok bool) {
	if b := r.Read(addr, 8); len(b) == 8 {
		return r.Order.Uint64(b), true
	}
	return 0, false
}

// Name reads a string that ends with a zero, of up to 127 bytes. It returns "" for a longer one.
func (r *Reader) Name(addr uint64) string {
	const page = 1 << 12 // the page behind the string's end may be missing
	b := r.Read(addr, int(min(maxName+1, page-addr%page)))
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return string(b[:i])
	}
	if len(b) == 0 || len(b) > maxName {
		return ""
	}
	if b = r.Read(addr, maxName+1); bytes.IndexByte(b, 0) >= 0 {
		return string(b[:bytes.IndexByte(b, 0)])
	}
	return ""
}

// maxName bounds names, in bytes: all names that are needed are shorter.
const maxName = 127

// Number reads a field of an object, of 1, 2, 4 or 8 bytes, with its sign.
func (r *Reader) Number(object uint64, f Field) (v int64, ok bool) {
	b := r.Read(object+f.Offset, f.Size)
	if len(b) < f.Size {
		return 0, false
	}
	switch f.Size {
	case 1:
		v = int64(int8(b[0]))
	case 2:
		v = int64(int16(r.Order.Uint16(b)))
	case 4:
		v = int64(int32(r.Order.Uint32(b)))
	case 8:
		return int64(r.Order.Uint64(b)), true
	default:
		return 0, false
	}
	if f.Unsigned {
		v &= 1<<(8*f.Size) - 1
	}
	return v, true
}

// Pointer reads a field that is an address.
func (r *Reader) Pointer(object uint64, f Field) (uint64, bool) { return r.Word(object + f.Offset) }
