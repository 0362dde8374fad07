package symbol

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// openTypes opens .debug_types, where DWARF 4 has units of one type each. They use the other
// sections of d.
func (d *debugInfo) openTypes(from *elf.Image) error {
	s, err := openSection(from, "types", 0)
	if err != nil {
		return fmt.Errorf("read DWARF: %w", err)
	}
	if s == nil {
		return nil
	}
	s.room = d.room
	d.types = &debugInfo{
		order: d.order, warn: func(err error) { d.warn(err) },
		info: s, abbrev: d.abbrev, str: d.str, lineStr: d.lineStr, strOffsets: d.strOffsets,
		addrs: d.addrs, rangeLists: d.rangeLists, oldRanges: d.oldRanges, locLists: d.locLists, oldLocs: d.oldLocs,
		supplement: func() *debugInfo { return d.supplement() }, typesOnly: true, main: d,
		tables: make(map[dwarfdata.AbbrevKey]*abbrevs), lines: make(map[uint64]*lineSlot),
		room: d.room,
	}
	return nil
}

// typeUnit returns the unit of the type with a signature, and the DWARF that it is in; nil if there
// is none (DWARF 5, section 7.32).
func (d *debugInfo) typeUnit(signature uint64) (*debugInfo, *unit) {
	if d.main != nil {
		d = d.main
	}
	for _, in := range [...]*debugInfo{d, d.types} {
		if in == nil {
			continue
		}
		if u := in.ownTypeUnit(signature); u != nil {
			return in, u
		}
	}
	return nil, nil
}

func (d *debugInfo) ownTypeUnit(signature uint64) *unit {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.signed == nil {
		d.signed = make(map[uint64]*unit)
		d.readHeaders(d.info.len())
		for _, u := range d.units {
			if u.TypeEntry != 0 {
				d.signed[u.ID] = u
			}
		}
	}
	return d.signed[signature]
}
