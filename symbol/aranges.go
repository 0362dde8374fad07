package symbol

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/internal/dwarfdata"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// candidates appends the code around an address of the units that .debug_aranges
// lists for it, in the order of [interval.Nested.Sort], by the units' index in the list that
// comes with it. A unit of DWARF 3 or later counts only if its own entry covers the address:
// .debug_aranges saves reading all other units first, but is not believed.
func (d *debugInfo) candidates(addr uint64, list []span) ([]span, []*unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.listedRead {
		d.listedRead = true
		d.readAranges()
	}
	d.listed.Find(addr, func(s span) bool {
		i, ok := d.unitFrom(d.listedAt[s.Value])
		if !ok {
			return true
		}
		h, err := d.header(d.units[i])
		if h == nil || err != nil {
			return true
		}
		covers := false
		for _, r := range h.ranges {
			if addr >= r[0] && addr < r[1] {
				covers = true
				list = append(list, span{Lo: r[0], Hi: r[1], Value: int32(i)})
			}
		}
		if !covers && d.units[i].version == 2 { // whose entry has one range alone, that of its main section
			list = append(list, span{Lo: s.Lo, Hi: s.Hi, Value: int32(i)})
		}
		return true
	})
	slices.SortFunc(list, interval.Compare)
	return list[max(0, len(list)-interval.MaxTries):], d.units
}

// unitFrom returns the index of the unit that begins at an offset of .debug_info.
// The caller holds d.mu. Much has to be inflated to get there. Compilers and linkers
// keep the units' parts of other sections in the same order. So unitFrom can tell which
// bytes of those sections will be needed next, and has them inflated at the same time.
func (d *debugInfo) unitFrom(off uint64) (i int, ok bool) {
	if size := d.info.len(); off > d.next && off < size {
		part := float64(off) / float64(size)
		d.abbrev.prepare(uint64(part * float64(d.abbrev.len())))
		d.line.prepare(uint64(part * float64(d.line.len())))
	}
	d.readHeaders(off)
	return slices.BinarySearchFunc(d.units, off, func(u *unit, off uint64) int { return cmp.Compare(u.start, off) })
}

// readAranges reads .debug_aranges, DWARF 5 section 6.1.2. It leaves out entries that make no sense.
func (d *debugInfo) readAranges() {
	data, err := d.aranges.all()
	d.aranges = nil
	if err != nil {
		return
	}
	for len(data) > 0 {
		c := dwarfdata.New(data, d.order)
		n, offsetSize := c.UnitLength()
		if c.Bad || n > c.Left() {
			break
		}
		header, end := c.Off, c.Off+int(n)
		data, c.Data = data[end:], data[:end]
		version := c.Uint(2)
		at := c.Uint(offsetSize)
		size, segment := int(c.Uint(1)), c.Uint(1)
		if c.Bad || version != 2 || size != 4 && size != 8 || segment != 0 {
			continue
		}
		// Pairs are aligned to their size, from the header's first byte on.
		header += 2 + offsetSize + 2
		c.Take(uint64(-header & (2*size - 1)))
		id := int32(len(d.listedAt))
		d.listedAt = append(d.listedAt, at)
		for !c.Bad {
			lo, n := c.Uint(size), c.Uint(size)
			if lo == 0 && n == 0 {
				break
			}
			if d.isCode(lo, lo+n) {
				if d.take(spanSize) != nil {
					data = nil
					break
				}
				d.listed.Add(lo, lo+n, id)
			}
		}
	}
	d.listed.Sort()
}
