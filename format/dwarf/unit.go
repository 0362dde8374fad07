package dwarf

import (
	"encoding/binary"
	"fmt"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// Kinds of units, DWARF 5 table 7.2.
const (
	UnitCompile      = 1
	UnitType         = 2
	UnitPartial      = 3 // what several units share
	UnitSkeleton     = 4 // of a unit whose rest is in another file
	UnitSplitCompile = 5
	UnitSplitType    = 6
)

// Unit is the header of a unit (DWARF 5, section 7.5.1). Offsets are of the section.
type Unit struct {
	Encoding
	Kind              uint8  // UnitCompile for all units before DWARF 5 but units of .debug_types
	Start, Entry, End uint64 // offsets of its header, of its first entry, behind its last
	Abbrev            uint64 // offset in .debug_abbrev
	ID                uint64 // of a skeleton or split unit of DWARF 5; a type unit's signature
	TypeEntry         uint64 // offset of that type's entry; 0 for other units
}

// AbbrevKey returns the key of the unit's abbreviations.
func (u *Unit) AbbrevKey() AbbrevKey { return AbbrevKey{u.Abbrev, u.Encoding} }

// Units is a section of units.
type Units struct {
	Order binary.ByteOrder
	Size  uint64 // of the section, bytes
	Types bool   // the section is .debug_types, which DWARF 4 has for types
	// Read returns the bytes [lo, hi) of the section, or as many of them as the section has.
	Read func(lo, hi uint64) ([]byte, error)
}

// At reads the header at an offset. next is the offset of the next one, with an error, too: the end
// of the section if it is not known. The unit is the zero Unit if there is padding, a unit
// without entries, or one of an unknown kind.
func (s *Units) At(at uint64) (u Unit, next uint64, err error) {
	const longest = 12 + 2 + 1 + 1 + 8 + 8 + 8
	data, err := s.Read(at, min(at+longest, s.Size))
	if err != nil {
		return Unit{}, s.Size, err
	}
	r := New(data, s.Order)
	n, offsetSize := r.UnitLength()
	start := at + uint64(r.Off)
	if r.Bad || n > s.Size-start {
		return Unit{}, s.Size, fmt.Errorf("unit at offset %#x of .debug_info: length %#x is larger than what is left", at, n)
	}
	if n == 0 {
		next, err = s.padding(start)
		return Unit{}, next, err
	}
	r.Data = r.Data[:r.Off+int(min(r.Left(), n))]
	version := r.U16()
	u = Unit{Encoding: Encoding{OffsetSize: uint8(offsetSize)}, Kind: UnitCompile, Start: at, End: start + n}
	u.Version = uint8(min(version, 255))
	if version >= 5 {
		u.Kind = r.U8()
		u.AddrSize = r.U8()
		u.Abbrev = r.Uint(offsetSize)
		if u.Kind == UnitSkeleton || u.Kind == UnitSplitCompile {
			u.ID = r.U64()
		}
	} else {
		u.Abbrev = r.Uint(offsetSize)
		u.AddrSize = r.U8()
		if s.Types {
			u.Kind = UnitType
		}
	}
	if u.Kind == UnitType || u.Kind == UnitSplitType {
		u.ID = r.U64()
		u.TypeEntry = at + r.Uint(offsetSize)
	}
	u.Entry = at + uint64(r.Off)
	switch {
	case r.Bad || version < 2 || version > 5 || u.AddrSize != 4 && u.AddrSize != 8:
		return Unit{}, u.End, fmt.Errorf("unit at offset %#x of .debug_info: DWARF version %d, address size %d, length %#x", at, version, u.AddrSize, n)
	case u.Entry >= u.End, u.Kind < UnitCompile || u.Kind > UnitSplitType, u.TypeEntry != 0 && (u.TypeEntry < u.Entry || u.TypeEntry >= u.End):
		return Unit{}, u.End, nil
	}
	return u, u.End, nil
}

// padding returns the end of the zeros at an offset; with an error, the end of the section. A hole
// of a file is no padding.
func (s *Units) padding(from uint64) (to uint64, err error) {
	const step = 4 << 10
	for to = from; to < s.Size; to += step {
		if to-from > elffile.HoleSize {
			return s.Size, fmt.Errorf("offset %#x of .debug_info: %d KiB of zeros: %w", from, elffile.HoleSize>>10, elffile.ErrHole)
		}
		b, err := s.Read(to, min(to+step, s.Size))
		if err != nil {
			return s.Size, err
		}
		for i, x := range b {
			if x != 0 {
				return to + uint64(i&^3), nil
			}
		}
	}
	return s.Size, nil
}
