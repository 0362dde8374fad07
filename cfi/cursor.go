package cfi

import (
	"bytes"
	"encoding/binary"
)

// cursor reads one stretch of the section in place. A read past the end sets
// bad and gives zero, so that a run of reads needs one check at its end.
type cursor struct {
	data []byte // from the start of the section to the end of the stretch
	off  int    // never beyond len(data)
	big  bool
	bad  bool
}

func (c *cursor) more() bool { return c.off < len(c.data) && !c.bad }

// take returns the next n bytes, or nil.
func (c *cursor) take(n uint64) []byte {
	if uint64(len(c.data)-c.off) < n {
		c.bad = true
		return nil
	}
	b := c.data[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

func (c *cursor) u8() uint8 {
	if c.off >= len(c.data) {
		c.bad = true
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

func (c *cursor) u16() uint16 {
	b := c.take(2)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (c *cursor) u32() uint32 {
	b := c.take(4)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (c *cursor) u64() uint64 {
	b := c.take(8)
	switch {
	case b == nil:
		return 0
	case c.big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	}
	return c.u64()
}

// maxLEB is how far a LEB128 number may be padded, so that a few entries cannot
// make each look-up read all of the section.
const maxLEB = 7 * 16 // bits

// uleb reads an unsigned LEB128 number (DWARF 5, section 7.6); one that does not
// fit 64 bits is bad.
func (c *cursor) uleb() uint64 {
	if c.off < len(c.data) && c.data[c.off] < 0x80 {
		c.off++
		return uint64(c.data[c.off-1])
	}
	var v uint64
	for shift := uint(0); c.off < len(c.data) && shift < maxLEB; shift += 7 {
		b := c.data[c.off]
		c.off++
		low := uint64(b & 0x7f)
		if low != 0 && (shift > 63 || low<<shift>>shift != low) {
			c.bad = true
			return 0
		}
		v |= low << shift
		if b < 0x80 {
			return v
		}
	}
	c.bad = true
	return 0
}

// sleb reads a signed LEB128 number; one that does not fit 64 bits is bad.
func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); c.off < len(c.data) && shift < maxLEB; shift += 7 {
		b := c.data[c.off]
		c.off++
		low := int64(b & 0x7f)
		switch {
		case shift < 63:
			v |= low << shift
		case shift == 63 && (low == 0 || low == 0x7f):
			v |= low << 63
		case shift > 63 && low == v>>63&0x7f:
		default:
			c.bad = true
			return 0
		}
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.bad = true
	return 0
}

// cstring reads up to a zero byte, which it steps over and which stands among
// the next limit bytes.
func (c *cursor) cstring(limit int) []byte {
	i := bytes.IndexByte(c.data[c.off:min(len(c.data), c.off+limit)], 0)
	if i < 0 {
		c.bad = true
		return nil
	}
	s := c.data[c.off : c.off+i]
	c.off += i + 1
	return s
}
