package symbol

import (
	"cmp"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// candidates appends the code around an address of the units that .debug_aranges
// lists for it, in the order of [interval.Nested.Sort], by the units' index in the list that
// comes with it. A unit of DWARF 3 or later counts only if its own entry covers the address:
// .debug_aranges saves reading all other units first, but is not believed.
func (d *debugInfo) candidates(addr uint64, list []span) (_ []span, units []*unit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eachListed(addr, func(at, lo, hi uint64) {
		if u := d.unitFrom(at); u != nil && !slices.Contains(units, u) {
			if h, err := d.header(u); h != nil && err == nil {
				units = append(units, u)
				if u.Version == 2 && !covers(h.ranges, addr) { // whose entry has one range alone, its main section's
					list = append(list, span{Lo: lo, Hi: hi, Value: int32(len(units) - 1)})
				}
			}
		}
	})
	for i, u := range units {
		for _, r := range u.head.ranges {
			if addr >= r[0] && addr < r[1] {
				list = append(list, span{Lo: r[0], Hi: r[1], Value: int32(i)})
			}
		}
	}
	slices.SortFunc(list, func(a, b span) int { // of the same code, by the order of the units in the file
		return cmp.Or(interval.Compare(span{Lo: a.Lo, Hi: a.Hi}, span{Lo: b.Lo, Hi: b.Hi}), cmp.Compare(units[a.Value].Start, units[b.Value].Start))
	})
	return list[max(0, len(list)-interval.MaxTries):], units
}

// covers reports whether an address is in one of the ranges.
func covers(ranges [][2]uint64, addr uint64) bool {
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] })
}

// unitFrom returns the unit that begins at an offset of .debug_info; nil if none does.
// The caller holds d.mu.
func (d *debugInfo) unitFrom(off uint64) *unit {
	if off < d.next {
		return unitIn(d.units, off)
	}
	if d.info.compressed() {
		return d.inflatedUnit(off)
	}
	if u := unitIn(d.early, off); u != nil {
		return u
	}
	u, _, err := d.readUnit(off)
	if err != nil || u == nil || d.take(unitSize) != nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(d.early, off, unitOrder)
	d.early = slices.Insert(d.early, i, u)
	return u
}

// inflatedUnit is unitFrom for a compressed section. Much has to be inflated to get there.
// Compilers and linkers keep the units' parts of other sections in the same order. So inflatedUnit
// can tell which bytes of those sections will be needed next, and has them inflated at the same
// time.
func (d *debugInfo) inflatedUnit(off uint64) *unit {
	if size := d.info.len(); off < size {
		part := float64(off) / float64(size)
		d.abbrev.prepare(uint64(part * float64(d.abbrev.len())))
		d.line.prepare(uint64(part * float64(d.line.len())))
	}
	d.readHeaders(off)
	return unitIn(d.units, off)
}

// unitIn returns the unit of a list, ascending by offset, that begins at an offset; nil if there is
// none.
func unitIn(list []*unit, off uint64) *unit {
	if i, ok := slices.BinarySearchFunc(list, off, unitOrder); ok {
		return list[i]
	}
	return nil
}

func unitOrder(u *unit, off uint64) int { return cmp.Compare(u.Start, off) }

// fewListed is for how many addresses .debug_aranges is gone through: that takes less than to sort
// it.
const fewListed = 4

// eachListed calls yield with the code around an address that .debug_aranges lists, and with the
// offset of its unit, but not with more ranges than [interval.MaxTries]. The caller holds d.mu.
func (d *debugInfo) eachListed(addr uint64, yield func(at, lo, hi uint64)) {
	if !d.listedRead {
		if d.listedAsked++; d.listedAsked == 1 {
			if n := d.aranges.len(); n > 0 && d.take(int(n)) == nil {
				d.arangesData, _ = d.aranges.all()
			}
		}
		if d.listedAsked <= fewListed && d.arangesData != nil {
			var found []span
			var at []uint64
			dwarfdata.Aranges(d.arangesData, d.order, func(unit, lo, n uint64) bool {
				if addr-lo < n && d.isCode(lo, lo+n) {
					found, at = append(found, span{Lo: lo, Hi: lo + n, Value: int32(len(at))}), append(at, unit)
				}
				return len(found) <= interval.MaxTries
			})
			if len(found) <= interval.MaxTries {
				slices.SortFunc(found, interval.Compare[int32])
				for _, s := range slices.Backward(found) {
					yield(at[s.Value], s.Lo, s.Hi)
				}
				return
			}
		}
		d.listedRead = true
		d.readAranges()
	}
	d.listed.Find(addr, func(s span) bool {
		yield(d.listedAt[s.Value], s.Lo, s.Hi)
		return true
	})
}

// readAranges sorts what .debug_aranges lists.
func (d *debugInfo) readAranges() {
	data, kept := d.arangesData, d.arangesData != nil
	if !kept {
		var err error
		if data, err = d.aranges.all(); err != nil {
			data = nil
		}
	}
	d.aranges, d.arangesData = nil, nil
	const one = 48 // bytes of most units: a header, a range, the end
	d.listed.Grow(len(data) / one)
	d.listedAt = slices.Grow(d.listedAt, len(data)/one)
	last := nowhere
	dwarfdata.Aranges(data, d.order, func(unit, lo, n uint64) bool {
		if !d.isCode(lo, lo+n) {
			return true
		}
		if d.take(spanSize) != nil {
			return false
		}
		if unit != last {
			d.listedAt, last = append(d.listedAt, unit), unit
		}
		d.listed.Add(lo, lo+n, int32(len(d.listedAt)-1))
		return true
	})
	d.listed.Sort()
	if kept {
		d.room.release(int64(len(data)))
	}
}
