package symbol

import (
	"fmt"
	"sync"
	"sync/atomic"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// splitUnit is the rest of a unit whose DWARF is split. The module's own DWARF has a skeleton with
// the lines, the ranges and a table of addresses. Another file has the functions. See DWARF 5
// appendix F; for DWARF 4 see https://gcc.gnu.org/wiki/DebugFission.
type splitUnit struct {
	info *debugInfo
	unit *unit
}

// splitFile is the DWARF of a .dwo file, or the part of a package (.dwp) that comes from one .dwo
// file.
type splitFile struct {
	info, abbrev, str, strOffsets, rangeLists *section
	locLists, oldLocs                         *section

	listed sync.Once
	units  map[uint64]uint64 // by ID: offset of the unit in info
	left   *atomic.Int64     // bytes of info that may still be read: a unit has only one skeleton
	room   *room             // see debugInfo
}

// openSplit finds the rest of a unit, if it is split, and reads its functions. The caller holds
// d.mu.
func (d *debugInfo) openSplit(u *unit) {
	name := d.text(u, u.head.splitName)
	if name == "" || d.splits == nil {
		return
	}
	for file := range d.splits(name, d.text(u, u.head.dir), u.head.splitID) {
		rest := &debugInfo{
			order: d.order, code: d.code, outer: d, skeleton: u.head, skeletonUnit: u, warn: d.warn,
			info: file.info, abbrev: file.abbrev, str: file.str, strOffsets: file.strOffsets, rangeLists: file.rangeLists,
			locLists: file.locLists, oldLocs: file.oldLocs,
			addrs: d.addrs, oldRanges: d.oldRanges, supplement: d.supplement,
			tables: make(map[dwarfdata.AbbrevKey]*abbrevs), lines: make(map[uint64]*lineSlot),
			room: file.room,
		}
		rest.limit()
		unit, err := rest.unitOf(file, u.head.splitID)
		if err == nil && unit != nil {
			err = d.spend(file.left, unit.End-unit.Start)
		}
		if err != nil {
			d.warn(fmt.Errorf("read %s: %w", name, err))
			continue
		}
		if unit == nil {
			continue
		}
		rest.open(unit)
		u.split = &splitUnit{rest, unit}
		break
	}
}

// unitOf returns the split unit with the ID id, nil if the file has none.
func (d *debugInfo) unitOf(file *splitFile, id uint64) (u *unit, err error) {
	file.listed.Do(func() { err = d.listUnits(file) })
	at, ok := file.units[id]
	if err != nil || !ok {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if u = d.unitFrom(at); u != nil {
		_, err = d.header(u)
	}
	return u, err
}

// listUnits notes the IDs of the split units in a file.
func (d *debugInfo) listUnits(file *splitFile) error {
	file.units = make(map[uint64]uint64)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readHeaders(d.info.len())
	for _, u := range d.units {
		if u.TypeEntry != 0 {
			continue
		}
		h, err := d.header(u)
		if err != nil {
			return err
		}
		if h != nil {
			file.units[h.splitID] = u.Start
		}
	}
	return nil
}

// completeHeader fills in the bases that a split unit lacks. Some come from its skeleton. The
// others are fixed: the unit's parts of the sections begin behind a header (DWARF 5 sections 7.26
// and 7.28). Before DWARF 5 they have no header.
func (d *debugInfo) completeHeader(u *unit, h *header) {
	h.base, h.addrs = d.skeleton.base, d.skeleton.addrs
	if u.Version >= 5 {
		length := uint64(4)
		if u.OffsetSize == 8 {
			length = 12
		}
		h.strOffsets = length + 4
		h.rangeLists = length + 8
		h.locLists = length + 8
	}
}
