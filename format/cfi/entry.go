package cfi

import "encoding/binary"

// entry is the common head of a CIE and an FDE (DWARF 5, section 6.4.1).
type entry struct {
	off   int  // offset of the entry in the section
	body  int  // offset behind the CIE ID or pointer
	end   int  // offset behind the entry
	cie   int  // offset of the CIE that an FDE belongs to; -1 for a CIE
	empty bool // a zero terminator
	wide  bool // 64-bit format
}

// entryAt reads the head of the entry at off, an offset within the section.
func (s *Section) entryAt(off int) (entry, error) {
	const most = 4 + 8 + 8 // length and CIE of the 64-bit format
	p, end := []byte(nil), s.size
	if !s.paged {
		p = s.data[off:]
	} else {
		var ok bool
		end = min(off+most, s.size)
		if p, ok = s.pages.View(off, end); !ok {
			return entry{off: off, cie: -1}, s.unread(off)
		}
	}
	left := uint64(s.size - off)
	if len(p) >= 8 && s.Kind == EH && !s.big {
		// Nearly all entries that are looked up are such FDEs.
		length, id := uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:]))
		if length >= 4 && length <= left-4 && length < 0xfffffff0 && id != 0 && id <= uint64(off)+4 {
			return entry{off: off, body: off + 8, end: off + 4 + int(length), cie: off + 4 - int(id)}, nil
		}
	}
	e := entry{off: off, cie: -1}
	c := s.reader(off, end)
	length := uint64(c.U32())
	switch {
	case c.Bad:
		return e, s.entryError(off, "length "+truncated)
	case length == 0:
		e.body, e.end, e.empty = c.at(), c.at(), true
		return e, nil
	case length == 0xffffffff:
		e.wide = true
		length = c.U64()
	case length >= 0xfffffff0:
		return e, s.entryError(off, "length is a reserved value")
	}
	if c.Bad || length > uint64(s.size-c.at()) {
		return e, s.entryError(off, "runs past the end of the section")
	}
	e.end = c.at() + int(length)
	c.Data = c.Data[:min(e.end-c.base, len(c.Data))]

	at := c.at()
	var id uint64
	// The ID field of .eh_frame has four bytes in the 64-bit format, too.
	if e.wide && s.Kind == Debug {
		id = c.U64()
	} else {
		id = uint64(c.U32())
	}
	if c.Bad {
		return e, s.entryError(off, "is too short for a CIE pointer")
	}
	e.body = c.at()
	var target uint64
	if s.Kind == EH {
		if id == 0 {
			return e, nil
		}
		target = uint64(at) - id // distance back from the field itself
	} else {
		if id == 0xffffffffffffffff || !e.wide && id == 0xffffffff {
			return e, nil
		}
		target = id
	}
	if target >= uint64(s.size) {
		return e, &Error{s.Kind, "FDE", off, "CIE pointer", at, "points outside the section", ErrMalformed}
	}
	e.cie = int(target)
	return e, nil
}

func (s *Section) unread(off int) error { return s.entryError(off, "cannot be read from the file") }

func (s *Section) entryError(off int, reason string) error {
	return &Error{Kind: s.Kind, Entry: "entry", Offset: off, Reason: reason, Err: ErrMalformed}
}

// span is a stretch of the section.
type span struct{ from, to int }

// has reports whether p lies within the section. Callers may pass an FDE of another section.
func (s *Section) has(p span) bool { return 0 <= p.from && p.from <= p.to && p.to <= s.size }
