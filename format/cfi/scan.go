package cfi

import (
	"encoding/binary"
	"fmt"
)

// window is how many bytes of a section are read at a time that are not kept. A file's holes are
// found in reads of this size.
const window = 256 << 10

// scan reads where the code of FDEs starts, in the order of the section. It takes a fraction of the
// time of a walk, and keeps no bytes of a section that is read as it is needed.
type scan struct {
	s     *Section
	walk  walk   // of what is unusual; its offset is where the next entry is
	at    int    // offset of bytes in the section
	bytes []byte // of the section
	room  []byte // for bytes
	forms [16]cieForm
}

// form is how an FDE gives its code.
type form uint8

const (
	unusual  form = iota
	relative      // start: distance from itself, length, size of augmentation data: 4, 4 and 1 bytes
	absolute      // start and length: 8 bytes each
)

// cieForm is the form of a CIE's FDEs. It is for the offset behind the CIE's, so that the zero
// value is for none.
type cieForm struct {
	behind int
	form   form
}

func newScan(s *Section) *scan {
	c := &scan{s: s, walk: walk{s: s}}
	if s.paged {
		c.room = make([]byte, min(window, s.size))
	}
	return c
}

// next returns the start of code and the offset of the next FDE that has code. more is false behind
// the last one. An FDE that cannot be read gives an error, as in [Section.FDEs].
func (c *scan) next() (start uint64, offset int, more bool, err error) {
	const head = 4 + 4 + 16 // length, CIE, and what is read of the longest form
	for {
		off := c.walk.off
		if off-c.at+head > len(c.bytes) && c.at+len(c.bytes) < c.s.size {
			if c.bytes, err = c.s.pages.Window(off, c.room); err != nil && len(c.bytes) < head {
				c.walk.off, c.bytes, c.at = c.s.size, nil, c.s.size
				return 0, off, true, fmt.Errorf("cfi: read %v at %#x: %w", c.s.Kind, off, err)
			}
			c.at = off
		}
		b := c.bytes[min(off-c.at, len(c.bytes)):]
		if len(b) >= head && !c.s.big {
			if length := binary.LittleEndian.Uint32(b); length == 0 {
				c.walk.off += 4
				c.walk.terminated = true
				continue
			} else if start, size, ok := c.usual(off, uint64(length), b); ok {
				c.walk.off += 4 + int(length)
				if size == 0 { // a CIE, or no code
					continue
				}
				return start, off, true, nil
			}
		}
		var f FDE
		c.walk.haveCIE = false
		if more, err := c.walk.next(&f); !more || err != nil || f.Len > 0 {
			return f.Start, f.Offset, more, err
		}
	}
}

// usual reads the entry at an offset, if it is as nearly all are. b begins with it. size is 0 for a
// CIE.
func (c *scan) usual(off int, length uint64, b []byte) (start, size uint64, ok bool) {
	s := c.s
	if length < 4 || length >= 0xfffffff0 || length > uint64(s.size-off-4) {
		return 0, 0, false
	}
	id := uint64(binary.LittleEndian.Uint32(b[4:]))
	cie := id
	if s.Kind == EH {
		if id == 0 {
			return 0, 0, true
		}
		cie = uint64(off) + 4 - id
	} else if id == 0xffffffff {
		return 0, 0, true
	}
	if cie >= uint64(s.size) {
		return 0, 0, false
	}
	mask := addressMask(s.ptrSize)
	b = b[8:]
	switch c.formOf(int(cie)) {
	case relative:
		if length < 4+9 || b[8] >= 0x80 || length < 4+9+uint64(b[8]) {
			return 0, 0, false
		}
		start = (s.addr + uint64(off) + 8 + uint64(int64(int32(binary.LittleEndian.Uint32(b))))) & mask
		size = uint64(binary.LittleEndian.Uint32(b[4:]))
	case absolute:
		if length < 4+16 {
			return 0, 0, false
		}
		start, size = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	default:
		return 0, 0, false
	}
	return start, size, size <= mask-start && size <= maxLen
}

// formOf returns the form of the FDEs of the CIE at an offset.
func (c *scan) formOf(cie int) form {
	known := &c.forms[uint(cie>>2^cie>>6)%uint(len(c.forms))]
	if known.behind != cie+1 {
		*known = cieForm{behind: cie + 1}
		var x CIE
		if c.s.parseCIE(cie, &x) == nil && x.PtrSize == c.s.ptrSize {
			switch {
			case x.encoding == encPCrel|encSdata4 && x.sized:
				known.form = relative
			case x.encoding == encAbsptr && !x.sized && x.PtrSize == 8:
				known.form = absolute
			}
		}
	}
	return known.form
}
