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
	if s.partly && !s.fill(off) {
		return entry{off: off, cie: -1}, s.entryError(off, "cannot be read from the file")
	}
	if p := s.data[off:]; len(p) >= 8 && s.kind == EH && !s.big {
		// Nearly all entries that are looked up are such FDEs.
		length, id := uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[4:]))
		if length >= 4 && length <= uint64(len(p)-4) && length < 0xfffffff0 && id != 0 && id <= uint64(off)+4 {
			return entry{off: off, body: off + 8, end: off + 4 + int(length), cie: off + 4 - int(id)}, nil
		}
	}
	e := entry{off: off, cie: -1}
	c := s.reader(off, len(s.data))
	length := uint64(c.U32())
	switch {
	case c.Bad:
		return e, s.entryError(off, "length "+truncated)
	case length == 0:
		e.body, e.end, e.empty = c.Off, c.Off, true
		return e, nil
	case length == 0xffffffff:
		e.wide = true
		length = c.U64()
	case length >= 0xfffffff0:
		return e, s.entryError(off, "length is a reserved value")
	}
	if c.Bad || length > uint64(len(s.data)-c.Off) {
		return e, s.entryError(off, "runs past the end of the section")
	}
	e.end = c.Off + int(length)
	c.Data = c.Data[:e.end]

	at := c.Off
	var id uint64
	// The ID field of .eh_frame has four bytes in the 64-bit format, too.
	if e.wide && s.kind == Debug {
		id = c.U64()
	} else {
		id = uint64(c.U32())
	}
	if c.Bad {
		return e, s.entryError(off, "is too short for a CIE pointer")
	}
	e.body = c.Off
	var target uint64
	if s.kind == EH {
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
	if target >= uint64(len(s.data)) {
		return e, &Error{s.kind, "FDE", off, "CIE pointer", at, "points outside the section", ErrMalformed}
	}
	e.cie = int(target)
	return e, nil
}

// fill has the entry at off read, as far as it lies within the section.
func (s *Section) fill(off int) bool {
	const head = 4 + 8 // the length of the 64-bit format
	if !s.pages.Fill(off, min(off+head, len(s.data))) {
		return false
	}
	c := s.reader(off, min(off+head, len(s.data)))
	length := uint64(c.U32())
	if length == 0xffffffff {
		length = c.U64()
	}
	return c.Bad || length > uint64(len(s.data)-c.Off) || s.pages.Fill(c.Off, c.Off+int(length))
}

func (s *Section) entryError(off int, reason string) error {
	return &Error{Kind: s.kind, Entry: "entry", Offset: off, Reason: reason, Err: ErrMalformed}
}

// span is a stretch of the section.
type span struct{ from, to int }

// has reports whether p lies within the section. Callers may pass an FDE of another section.
func (s *Section) has(p span) bool { return 0 <= p.from && p.from <= p.to && p.to <= len(s.data) }
