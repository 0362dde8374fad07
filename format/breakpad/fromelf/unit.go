package fromelf

import (
	"bytes"
	"fmt"
	"sort"
	"sync"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/elffile"
)

// Unit types, DWARF 5 table 7.2.
const (
	utCompile      = 1
	utPartial      = 3
	utSkeleton     = 4
	utSplitCompile = 5
)

// unit is a compilation unit, or another that entries of one refer to.
type unit struct {
	start, entry, end uint64 // offsets in .debug_info: of its header, its first entry, behind its last
	abbrev            uint64 // offset in .debug_abbrev
	version           uint8
	addrSize          uint8
	offsetSize        uint8
	number            uint32 // in the order of the file, over all files

	// From the first entry:
	tag           uint32
	language      uint64
	name, dir     []byte
	lines         value  // offset in .debug_line
	low           uint64 // base of range lists
	addrBase      uint64
	strOffsets    uint64
	rngLists      uint64
	rngListsGiven bool
	oldRanges     uint64 // added to a split unit's offsets in .debug_ranges
	dwoName       []byte
	dwoID         uint64
	skeleton      *unit // of a split unit

	once sync.Once // the first entry is read
	bad  bool      // it cannot be read
}

// listUnits reads the headers of all units (DWARF 5 section 7.5.1).
func (s *sections) listUnits() error {
	size := s.info.size
	for at := uint64(0); at < size; {
		u, next, err := s.readUnit(at)
		if err != nil {
			return err
		}
		if u != nil {
			s.units = append(s.units, u)
		}
		at = next
	}
	return nil
}

// readUnit reads the header at an offset; u is nil if it is of padding or of a unit without functions.
func (s *sections) readUnit(at uint64) (u *unit, next uint64, err error) {
	const longest = 12 + 2 + 1 + 1 + 8 + 8
	c := dwarfdata.New(s.info.part(at, at+longest, nil), s.order)
	n, offsetSize := c.UnitLength()
	start := at + uint64(c.Off)
	if c.Bad || n > s.info.size-start {
		return nil, 0, fmt.Errorf("unit at offset %#x of .debug_info: length %#x is larger than what is left", at, n)
	}
	if n == 0 { // padding
		next, err = s.padding(start)
		return nil, next, err
	}
	u = &unit{start: at, end: start + n, offsetSize: uint8(offsetSize)}
	c.Data = c.Data[:min(uint64(len(c.Data)), u.end-at)]
	u.version = uint8(min(c.U16(), 255))
	kind := uint8(utCompile)
	if u.version >= 5 {
		kind = c.U8()
		u.addrSize = c.U8()
		u.abbrev = c.Uint(offsetSize)
		if kind == utSkeleton || kind == utSplitCompile {
			u.dwoID = c.U64()
		}
	} else {
		u.abbrev = c.Uint(offsetSize)
		u.addrSize = c.U8()
	}
	if c.Bad || u.version < 2 || u.version > 5 || u.addrSize != 4 && u.addrSize != 8 {
		return nil, 0, fmt.Errorf("unit at offset %#x of .debug_info: DWARF version %d, address size %d, length %#x", at, u.version, u.addrSize, n)
	}
	switch {
	case kind != utCompile && kind != utPartial && kind != utSkeleton && kind != utSplitCompile, at+uint64(c.Off) >= u.end:
		return nil, u.end, nil
	}
	u.entry = at + uint64(c.Off)
	return u, u.end, nil
}

// padding returns the end of the zeros at the offset from of .debug_info. A hole is no padding.
func (s *sections) padding(from uint64) (to uint64, err error) {
	var room [4 << 10]byte
	for to = from; to < s.info.size; {
		b := s.info.part(to, to+uint64(len(room)), room[:])
		for i, x := range b {
			if x != 0 {
				return to + uint64(i&^3), nil
			}
		}
		if to += uint64(len(b)); len(b) == 0 || to-from > elffile.HoleSize {
			return 0, fmt.Errorf("%d KiB of zeros at offset %#x of .debug_info: %w", (to-from)>>10, from, elffile.ErrHole)
		}
	}
	return s.info.size, nil
}

// unitAt returns the unit whose entries are around an offset of .debug_info; nil if there is none.
func (s *sections) unitAt(off uint64) *unit {
	i := sort.Search(len(s.units), func(i int) bool { return s.units[i].end > off })
	if i < len(s.units) && s.units[i].entry <= off {
		return s.units[i]
	}
	return nil
}

// head reads the first entry of u, whose bytes are data, once. ok is false if it cannot be read.
func (s *sections) head(u *unit, data []byte, table *abbrevs) (ok bool) {
	u.once.Do(func() { u.bad = !s.readHead(u, data, table) })
	return !u.bad
}

func (s *sections) readHead(u *unit, data []byte, table *abbrevs) bool {
	c := s.at(u, data, u.entry)
	a := table.find(c.ULEB128())
	if a == nil {
		return false
	}
	u.tag = a.tag
	if u.version >= 5 { // behind the header of the unit's part, if the unit does not say where
		u.strOffsets = 8
		u.rngLists = 12
		if u.offsetSize == 8 {
			u.strOffsets, u.rngLists = 16, 20
		}
		if u.skeleton == nil {
			u.addrBase = 8
		}
	}
	var name, dir, low, dwoName value
	for _, x := range a.attrs {
		v := c.value(x.form, x.implicit)
		switch x.attr {
		case atName:
			name = v
		case atCompDir:
			dir = v
		case atLowPC:
			low = v
		case atStmtList:
			u.lines = v
		case atLanguage:
			u.language = v.n
		case atAddrBase, atGNUAddrBase:
			u.addrBase = v.n
		case atStrOffsetsBase:
			u.strOffsets = v.n
		case atRnglistsBase:
			u.rngLists, u.rngListsGiven = v.n, true
		case atGNURangesBase:
			u.oldRanges = v.n
		case atDwoName, atGNUDwoName:
			dwoName = v
		case atGNUDwoID:
			u.dwoID = v.n
		}
	}
	if sk := u.skeleton; sk != nil {
		u.addrBase, u.low, u.oldRanges, u.lines, u.dir = sk.addrBase, sk.low, sk.oldRanges, sk.lines, sk.dir
	}
	u.name = bytes.Clone(s.text(u, data, name))
	u.dwoName = bytes.Clone(s.text(u, data, dwoName))
	if d := s.text(u, data, dir); d != nil {
		u.dir = bytes.Clone(d)
	}
	if addr, ok := s.address(u, low); ok {
		u.low = addr
	}
	return !c.Bad
}

// Languages, DWARF 5 table 7.17, whose names are made in their own way.
const (
	langJava      = 0x0b
	langRust      = 0x1c
	langSwift     = 0x1e
	langAssembler = 0x8001 // DW_LANG_Mips_Assembler
)

// separator is between the names of scopes in a language.
func separator(language uint64) string {
	switch language {
	case langJava, langRust, langSwift:
		return "."
	case langAssembler:
		return ""
	}
	return "::"
}
