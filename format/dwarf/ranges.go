package dwarf

import (
	"encoding/binary"
	"fmt"
)

// Base is what the entries of a unit's lists of ranges and of locations are relative to.
type Base struct {
	Encoding
	Addr uint64 // the unit's own address, to which offsets are added
	// Index returns the address at an index of the unit's part of .debug_addr; ok is false if there
	// is none.
	Index func(i uint64) (addr uint64, ok bool)
}

// indexed reads an index, and returns its address.
func (b *Base) indexed(r *Reader) (addr uint64, err error) {
	i := r.ULEB128()
	if r.Bad {
		return 0, nil
	}
	addr, ok := b.Index(i)
	if !ok {
		err = fmt.Errorf("no address of index %d", i)
	}
	return addr, err
}

// highest is the address that has another base follow, in lists before DWARF 5.
func (e Encoding) highest() uint64 { return ^uint64(0) >> (64 - 8*e.AddrSize) }

// Entries of a list of ranges, DWARF 5 table 7.30.
const (
	rleEnd          = 0
	rleBaseIndex    = 1
	rleStartEndx    = 2
	rleStartLengthx = 3
	rleOffsets      = 4
	rleBase         = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

// Ranges reads a list of .debug_rnglists (DWARF 5, section 2.17.3). It calls yield with each range
// [lo, hi), which may be empty or turned round, until yield returns false. If the list is cut off,
// r is bad.
func (b Base) Ranges(r *Reader, yield func(lo, hi uint64) bool) (err error) {
	size := int(b.AddrSize)
	for base := b.Addr; ; {
		var lo, hi uint64
		kind := r.U8()
		switch kind {
		case rleEnd:
			return nil
		case rleBaseIndex:
			base, err = b.indexed(r)
		case rleBase:
			base = r.Uint(size)
		case rleStartEndx:
			if lo, err = b.indexed(r); err == nil {
				hi, err = b.indexed(r)
			}
		case rleStartLengthx:
			lo, err = b.indexed(r)
			hi = lo + r.ULEB128()
		case rleOffsets:
			lo = base + r.ULEB128()
			hi = base + r.ULEB128()
		case rleStartEnd:
			lo = r.Uint(size)
			hi = r.Uint(size)
		case rleStartLength:
			lo = r.Uint(size)
			hi = lo + r.ULEB128()
		default:
			err = fmt.Errorf("entry of unknown kind %d", kind)
		}
		switch {
		case err != nil || r.Bad:
			return err
		case kind == rleBaseIndex || kind == rleBase:
		case !yield(lo, hi):
			return nil
		}
	}
}

// OldRanges reads a list of .debug_ranges (DWARF 4, section 2.17.3), as [Base.Ranges] does.
func (b Base) OldRanges(r *Reader, yield func(lo, hi uint64) bool) {
	size, newBase := int(b.AddrSize), b.highest()
	for base := b.Addr; ; {
		lo := r.Uint(size)
		hi := r.Uint(size)
		switch {
		case r.Bad || lo == 0 && hi == 0:
			return
		case lo == newBase:
			base = hi
		case !yield(base+lo, base+hi):
			return
		}
	}
}

// Aranges calls yield with the ranges that a section .debug_aranges has (DWARF 5, section 6.1.2):
// the offset of the unit, and where its code begins and how long it is. It leaves out entries that
// make no sense. It ends where yield returns false.
func Aranges(data []byte, order binary.ByteOrder, yield func(unit, lo, n uint64) bool) {
	for len(data) > 0 {
		r := New(data, order)
		n, offsetSize := r.UnitLength()
		if r.Bad || n > r.Left() {
			return
		}
		header, end := r.Off, r.Off+int(n)
		data, r.Data = data[end:], data[:end]
		version := r.U16()
		at := r.Uint(offsetSize)
		size, segment := int(r.U8()), r.U8()
		if r.Bad || version != 2 || size != 4 && size != 8 || segment != 0 {
			continue
		}
		// Pairs are aligned to their size, from the header's first byte on.
		header += 2 + offsetSize + 2
		r.Take(uint64(-header & (2*size - 1)))
		for !r.Bad {
			lo := r.Uint(size)
			n := r.Uint(size)
			if r.Bad || lo == 0 && n == 0 {
				break
			}
			if !yield(at, lo, n) {
				return
			}
		}
	}
}
