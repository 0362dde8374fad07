package symbol

import (
	"bytes"
	"encoding/binary"
)

// cursor reads numbers one after the other. Behind the end it reads zeros, and
// bad stays set.
type cursor struct {
	data  []byte
	order binary.ByteOrder
	bad   bool
	whole bool // data goes to the section's end
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.bad, c.data = true, nil
		return nil
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

// uint reads an unsigned number of n bytes: 1, 2, 3, 4 or 8.
func (c *cursor) uint(n int) uint64 {
	b := c.bytes(uint64(n))
	switch {
	case b == nil:
		return 0
	case n == 1:
		return uint64(b[0])
	case n == 2:
		return uint64(c.order.Uint16(b))
	case n == 3 && c.order == binary.ByteOrder(binary.BigEndian):
		return uint64(b[0])<<16 | uint64(c.order.Uint16(b[1:]))
	case n == 3:
		return uint64(b[2])<<16 | uint64(c.order.Uint16(b))
	case n == 4:
		return uint64(c.order.Uint32(b))
	}
	return c.order.Uint64(b)
}

// uleb reads an unsigned LEB128 number.
func (c *cursor) uleb() (v uint64) {
	for i, b := range c.data {
		if i < 10 {
			v |= uint64(b&0x7f) << (7 * i)
		}
		if b < 0x80 {
			c.data = c.data[i+1:]
			return v
		}
	}
	c.bad, c.data = true, nil
	return 0
}

// sleb reads a signed LEB128 number.
func (c *cursor) sleb() int64 {
	n := len(c.data)
	v := c.uleb()
	if c.bad {
		return 0
	}
	// Where the last byte's sign bit is set, all above it is.
	shift := 7 * (n - len(c.data))
	if shift < 64 && v>>(shift-1)&1 != 0 {
		v |= ^uint64(0) << shift
	}
	return int64(v)
}

// string reads up to a NUL.
func (c *cursor) string() string {
	b := c.data
	c.skipString()
	if c.bad {
		return ""
	}
	return string(b[:len(b)-len(c.data)-1])
}

func (c *cursor) skipString() {
	i := bytes.IndexByte(c.data, 0)
	if i < 0 {
		c.bad, c.data = true, nil
		return
	}
	c.data = c.data[i+1:]
}

// unitLength reads the length that a DWARF unit begins with, DWARF 5 section
// 7.4: the bytes that follow it, and the size of offsets in them.
func (c *cursor) unitLength() (n uint64, offsetSize int) {
	n, offsetSize = c.uint(4), 4
	if n == 0xffffffff {
		n, offsetSize = c.uint(8), 8
	}
	return n, offsetSize
}

// stringAt returns the string at an offset of a string section.
func stringAt(section []byte, off uint64) (s string, ok bool) {
	if off > uint64(len(section)) {
		return "", false
	}
	c := cursor{data: section[off:]}
	s = c.string()
	return s, !c.bad
}
