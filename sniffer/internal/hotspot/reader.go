package hotspot

import (
	"bytes"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/target"
)

// reader reads the virtual machine's own memory.
type reader struct {
	memory target.Memory
	order  binary.ByteOrder
	room   [256]byte
}

// read returns up to n bytes at addr. The slice is valid until the next read.
func (r *reader) read(addr uint64, n int) []byte {
	n = min(n, len(r.room))
	if addr == 0 || addr+uint64(n) < addr {
		return nil
	}
	n, _ = r.memory.ReadMemory(addr, r.room[:n])
	return r.room[:n]
}

// word reads a pointer.
func (r *reader) word(addr uint64) (v uint64, ok bool) {
	if b := r.read(addr, 8); len(b) == 8 {
		return r.order.Uint64(b), true
	}
	return 0, false
}

// name reads a string of up to maxName bytes. It returns "" for a longer one.
func (r *reader) name(addr uint64) string {
	const page = 1 << 12 // the page behind the string's end may be missing
	b := r.read(addr, int(min(maxName+1, page-addr%page)))
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return string(b[:i])
	}
	if len(b) == 0 || len(b) > maxName {
		return ""
	}
	if b = r.read(addr, maxName+1); bytes.IndexByte(b, 0) >= 0 {
		return string(b[:bytes.IndexByte(b, 0)])
	}
	return ""
}

// maxName bounds names, in bytes: all names that are needed are shorter.
const maxName = 127

// number reads a field of an object, of 1 to 8 bytes.
func (r *reader) number(object uint64, f field) (v int64, ok bool) {
	b := r.read(object+f.offset, f.size)
	if len(b) < f.size {
		return 0, false
	}
	switch f.size {
	case 1:
		v = int64(int8(b[0]))
	case 2:
		v = int64(int16(r.order.Uint16(b)))
	case 4:
		v = int64(int32(r.order.Uint32(b)))
	case 8:
		return int64(r.order.Uint64(b)), true
	default:
		return 0, false
	}
	if f.unsigned {
		v &= 1<<(8*f.size) - 1
	}
	return v, true
}

// pointer reads a field that is an address.
func (r *reader) pointer(object uint64, f field) (uint64, bool) { return r.word(object + f.offset) }
