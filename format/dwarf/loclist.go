package dwarf

import "fmt"

// Entries of a list of locations, DWARF 5 table 7.10.
const (
	lleEnd          = 0
	lleBaseIndex    = 1
	lleStartEndx    = 2
	lleStartLengthx = 3
	lleOffsets      = 4
	lleDefault      = 5
	lleBase         = 6
	lleStartEnd     = 7
	lleStartLength  = 8
)

// Location returns the expression of a list of .debug_loclists (DWARF 5, section 2.6.2) at a
// link-time address: a part of r's bytes, nil if the list has none. If the list is cut off, r is
// bad.
func (b Base) Location(r *Reader, at uint64) (code []byte, err error) {
	size := int(b.AddrSize)
	var otherwise []byte
	for base := b.Addr; !r.Bad; {
		var lo, hi uint64
		kind := r.U8()
		switch kind {
		case lleEnd:
			return otherwise, nil
		case lleBaseIndex:
			if base, err = b.indexed(r); err != nil {
				return nil, err
			}
			continue
		case lleBase:
			base = r.Uint(size)
			continue
		case lleStartEndx:
			if lo, err = b.indexed(r); err == nil {
				hi, err = b.indexed(r)
			}
		case lleStartLengthx:
			lo, err = b.indexed(r)
			hi = lo + r.ULEB128()
		case lleOffsets:
			lo = base + r.ULEB128()
			hi = base + r.ULEB128()
		case lleDefault:
		case lleStartEnd:
			lo = r.Uint(size)
			hi = r.Uint(size)
		case lleStartLength:
			lo = r.Uint(size)
			hi = lo + r.ULEB128()
		default:
			err = fmt.Errorf("entry of unknown kind %d", kind)
		}
		if err != nil {
			return nil, err
		}
		block := r.Take(r.ULEB128())
		switch {
		case r.Bad:
		case kind == lleDefault:
			otherwise = block
		case at >= lo && at < hi:
			return block, nil
		}
	}
	return nil, nil
}

// OldLocation is [Base.Location] for a list of .debug_loc (DWARF 4, section 2.6.2).
func (b Base) OldLocation(r *Reader, at uint64) (code []byte, err error) {
	size, newBase := int(b.AddrSize), b.highest()
	for base := b.Addr; ; {
		lo := r.Uint(size)
		hi := r.Uint(size)
		switch {
		case r.Bad || lo == 0 && hi == 0:
			return nil, nil
		case lo == newBase:
			base = hi
			continue
		}
		if block := r.Take(uint64(r.U16())); !r.Bad && at >= base+lo && at < base+hi {
			return block, nil
		}
	}
}

// SplitLocation is [Base.Location] for a list of .debug_loc of split DWARF 4
// (https://gcc.gnu.org/wiki/DebugFission).
func (b Base) SplitLocation(r *Reader, at uint64) (code []byte, err error) {
	for base := b.Addr; !r.Bad; {
		var lo, hi uint64
		switch kind := r.U8(); kind {
		case lleEnd:
			return nil, nil
		case lleBaseIndex:
			base, _ = b.indexed(r)
			continue
		case lleStartEndx:
			lo, _ = b.indexed(r)
			hi, _ = b.indexed(r)
		case lleStartLengthx:
			lo, _ = b.indexed(r)
			hi = lo + uint64(r.U32())
		case lleOffsets:
			lo = base + uint64(r.U32())
			hi = base + uint64(r.U32())
		default:
			return nil, fmt.Errorf("entry of unknown kind %d", kind)
		}
		if block := r.Take(uint64(r.U16())); !r.Bad && at >= lo && at < hi {
			return block, nil
		}
	}
	return nil, nil
}
