package dwarf

// maxLEB128 is how far a LEB128 number may be padded, in bits: a few numbers cannot make each
// reader of them go through all of a section.
const maxLEB128 = 7 * 16

// ULEB128 reads an unsigned LEB128 number (DWARF 5, section 7.6).
func (r *Reader) ULEB128() uint64 {
	if r.Off < len(r.Data) && r.Data[r.Off] < 0x80 {
		r.Off++
		return uint64(r.Data[r.Off-1])
	}
	return r.longULEB128()
}

func (r *Reader) longULEB128() uint64 {
	var v uint64
	shift := uint(0)
	for ; r.Off < len(r.Data) && shift < maxLEB128; shift += 7 {
		b := r.Data[r.Off]
		r.Off++
		low := uint64(b & 0x7f)
		if low != 0 && (shift > 63 || low<<shift>>shift != low) {
			return r.overflow()
		}
		v |= low << shift
		if b < 0x80 {
			return v
		}
	}
	if shift >= maxLEB128 {
		return r.overflow()
	}
	r.Bad = true
	return 0
}

func (r *Reader) overflow() uint64 {
	r.Bad, r.Overflow = true, true
	return 0
}

// SLEB128 reads a signed LEB128 number (DWARF 5, section 7.6).
func (r *Reader) SLEB128() int64 {
	var v int64
	shift := uint(0)
	for ; r.Off < len(r.Data) && shift < maxLEB128; shift += 7 {
		b := r.Data[r.Off]
		r.Off++
		low := int64(b & 0x7f)
		switch {
		case shift < 63:
			v |= low << shift
		case shift == 63 && (low == 0 || low == 0x7f):
			v |= low << 63
		case shift > 63 && low == v>>63&0x7f:
		default:
			return int64(r.overflow())
		}
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	if shift >= maxLEB128 {
		return int64(r.overflow())
	}
	r.Bad = true
	return 0
}
