package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
)

// PackageIndex is the index of a package (.dwp), the section .debug_cu_index: which part of each
// section belongs to a unit (DWARF 5, section 7.3.5). Version 2, from before DWARF 5, differs only
// in the numbers of the sections.
type PackageIndex struct {
	order                 binary.ByteOrder
	index                 []byte // from the hash table on
	slots, columns, units uint64
	column                [PackageRangeLists + 1]int // counted from 1; 0 for none

	// left is how many slots may still be looked at beyond the first few for a unit: a table may
	// lead through all.
	left atomic.Int64
}

// slotLooks is how often each slot of an index may be looked at, on average.
const slotLooks = 64

// Sections in an index, DWARF 5 table 7.1.
const (
	PackageInfo       = 1
	PackageAbbrev     = 3
	PackageLocs       = 5 // .debug_loc in version 2
	PackageStrOffsets = 6
	PackageRangeLists = 8 // not in version 2
)

// ReadPackageIndex reads the head of an index. The index must not change as long as it is used.
func ReadPackageIndex(index []byte, order binary.ByteOrder) (*PackageIndex, error) {
	p := &PackageIndex{order: order}
	r := New(index, order)
	version := uint32(order.Uint16(append(index[:min(len(index), 2):min(len(index), 2)], 0, 0)))
	if version == 5 {
		r.U32()
	} else {
		version = r.U32()
	}
	p.columns, p.units, p.slots = uint64(r.U32()), uint64(r.U32()), uint64(r.U32())
	if r.Bad || version != 2 && version != 5 {
		return nil, fmt.Errorf("index of units: version %d, not 2 or 5", version)
	}
	p.index = r.Data[r.Off:]
	if size := uint64(len(p.index)); p.columns > 64 || p.slots > size/12 || p.slots&(p.slots-1) != 0 || p.units > size/4 ||
		12*p.slots+4*p.columns+8*p.columns*p.units > size {
		return nil, fmt.Errorf("index of units: %d slots, %d columns and %d units do not fit into %#x bytes", p.slots, p.columns, p.units, len(p.index))
	}
	p.left.Store(slotLooks * int64(p.slots))
	for i := range int(p.columns) {
		switch s := p.number(12*p.slots + 4*uint64(i)); s {
		case PackageInfo, PackageAbbrev, PackageLocs, PackageStrOffsets:
			p.column[s] = i + 1
		case PackageRangeLists:
			if version == 5 { // .debug_macro in version 2
				p.column[s] = i + 1
			}
		}
	}
	if p.column[PackageInfo] == 0 || p.column[PackageAbbrev] == 0 {
		return nil, errors.New("index of units: no column of .debug_info or .debug_abbrev")
	}
	return p, nil
}

func (p *PackageIndex) number(at uint64) uint64 { return uint64(p.order.Uint32(p.index[at:])) }

// Find returns the row of the unit with an ID; ok is false if the package does not have it, or if
// the units that were looked for have led through too much of the index.
func (p *PackageIndex) Find(id uint64) (row uint64, ok bool) {
	if p.slots == 0 {
		return 0, false
	}
	mask := p.slots - 1
	step := id>>32&mask | 1
	for slot, tries := id&mask, uint64(0); tries < p.slots; slot, tries = (slot+step)&mask, tries+1 {
		if tries >= 8 && p.left.Add(-1) < 0 {
			return 0, false
		}
		row := p.number(8*p.slots + 4*slot)
		if row == 0 || row > p.units {
			return 0, false
		}
		if p.order.Uint64(p.index[8*slot:]) == id {
			return row - 1, true
		}
	}
	return 0, false
}

// Part returns which part of a section, one of PackageInfo and its like, a row's unit has: n bytes
// at from. ok is false if the index has no column of the section. The part may lie beyond the
// section.
func (p *PackageIndex) Part(row uint64, section int) (from, n uint64, ok bool) {
	column := uint64(p.column[section])
	if column == 0 {
		return 0, 0, false
	}
	at := 12*p.slots + 4*p.columns + 4*(row*p.columns+column-1)
	return p.number(at), p.number(at + 4*p.columns*p.units), true
}
