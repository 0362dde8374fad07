package symbol

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/interval"
)

// maxUnranged bounds the entries of units without ranges that are read to find an address, bytes.
const maxUnranged = 64 << 20

// unranged returns the code of the functions in units that do not say which code they have. DWARF
// lets a unit leave that out, and its functions still have addresses. It reads these units whole,
// once: ask it for an address only that no other unit has.
func (d *debugInfo) unranged() *interval.Nested[int32] {
	d.unrangedRead.Do(func() {
		left := uint64(maxUnranged)
	units:
		for i, u := range d.withoutRanges() {
			size := u.End - u.Entry
			if size > left {
				d.warn(fmt.Errorf("read unit at offset %#x of .debug_info: it does not say which code it has, "+
					"and more than %d MiB of such units were read: its functions are not known", u.Start, maxUnranged>>20))
				break
			}
			left -= size
			for r := range d.described(u).c.code.All() {
				if err := d.take(spanSize); err != nil {
					d.lessOf(err)
					break units
				}
				d.unrangedCode.Add(r.Lo, r.Hi, int32(i))
			}
		}
		d.unrangedCode.Sort()
	})
	return &d.unrangedCode
}

// withoutRanges yields the units that may have functions with code, and do not say which code they
// have, with their indexes.
func (d *debugInfo) withoutRanges() func(yield func(int, *unit) bool) {
	d.whole() // reads all headers
	d.mu.Lock()
	units := d.units
	d.mu.Unlock()
	return func(yield func(int, *unit) bool) {
		for i, u := range units {
			if d.mayHaveCode(u) && !yield(i, u) {
				return
			}
		}
	}
}

// mayHaveCode reports whether a unit without ranges may have functions with code. Most such units,
// of types or of what was inlined elsewhere, have no abbreviation for one.
func (d *debugInfo) mayHaveCode(u *unit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u.TypeEntry != 0 || u.head == nil || len(u.head.ranges) > 0 {
		return false
	}
	if u.head.splitName.Text() {
		return true
	}
	table, err := d.abbrevs(u)
	if err != nil {
		d.lessOf(err)
		return false
	}
	return table.code
}

// uncovered calls yield with the units that have code at an address which no unit's ranges have,
// until yield returns false. It reads the units.
func (d *debugInfo) uncovered(addr uint64, yield func(*unit) bool) {
	d.unranged().Find(addr, func(r span) bool { return yield(d.units[r.Value]) })
}
