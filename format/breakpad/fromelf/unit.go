package fromelf

import (
	"bytes"
	"debug/dwarf"
	"sort"
	"sync"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// unit is a compilation unit, or another that entries of one refer to.
type unit struct {
	dwarfdata.Unit        // its ID may be from the first entry, too
	number         uint32 // in the order of the file, over all files

	// From the first entry:
	tag           dwarf.Tag
	language      uint64
	name, dir     []byte
	lines         dwarfdata.Value // offset in .debug_line
	low           uint64          // base of range lists
	addrBase      uint64
	strOffsets    uint64
	rngLists      uint64
	rngListsGiven bool
	oldRanges     uint64 // added to a split unit's offsets in .debug_ranges
	dwoName       []byte
	skeleton      *unit // of a split unit

	once sync.Once // the first entry is read
	bad  bool      // it cannot be read
}

// listUnits reads the headers of all units that may have functions.
func (s *sections) listUnits() error {
	all := dwarfdata.Units{Order: s.order, Size: s.info.size, Read: func(lo, hi uint64) ([]byte, error) {
		return s.info.part(lo, hi, nil), nil
	}}
	for at := uint64(0); at < all.Size; {
		u, next, err := all.At(at)
		if err != nil {
			return err
		}
		if u.End > 0 && u.TypeEntry == 0 {
			s.units = append(s.units, &unit{Unit: u})
		}
		at = next
	}
	return nil
}

// unitAt returns the unit whose entries are around an offset of .debug_info; nil if there is none.
func (s *sections) unitAt(off uint64) *unit {
	i := sort.Search(len(s.units), func(i int) bool { return s.units[i].End > off })
	if i < len(s.units) && s.units[i].Entry <= off {
		return s.units[i]
	}
	return nil
}

// head reads the first entry of u, whose bytes are data, once. ok is false if it cannot be read.
func (s *sections) head(u *unit, data []byte, table *dwarfdata.Abbrevs) (ok bool) {
	u.once.Do(func() { u.bad = !s.readHead(u, data, table) })
	return !u.bad
}

func (s *sections) readHead(u *unit, data []byte, table *dwarfdata.Abbrevs) bool {
	c := s.at(u, data, u.Entry)
	a := table.Find(c.ULEB128())
	if a == nil {
		return false
	}
	u.tag = a.Tag
	if u.Version >= 5 { // behind the header of the unit's part, if the unit does not say where
		u.strOffsets = 8
		u.rngLists = 12
		if u.OffsetSize == 8 {
			u.strOffsets, u.rngLists = 16, 20
		}
		if u.skeleton == nil {
			u.addrBase = 8
		}
	}
	var name, dir, low, dwoName dwarfdata.Value
	for _, x := range a.Attrs {
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrName:
			name = v
		case dwarf.AttrCompDir:
			dir = v
		case dwarf.AttrLowpc:
			low = v
		case dwarf.AttrStmtList:
			u.lines = v
		case dwarf.AttrLanguage:
			u.language = v.N
		case dwarf.AttrAddrBase, dwarfdata.AttrGNUAddrBase:
			u.addrBase = v.N
		case dwarf.AttrStrOffsetsBase:
			u.strOffsets = v.N
		case dwarf.AttrRnglistsBase:
			u.rngLists, u.rngListsGiven = v.N, true
		case dwarfdata.AttrGNURangesBase:
			u.oldRanges = v.N
		case dwarf.AttrDwoName, dwarfdata.AttrGNUSplitName:
			dwoName = v
		case dwarfdata.AttrGNUSplitID:
			u.ID = v.N
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
