package symbol

import (
	"cmp"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// eachEntry goes over the entry at off and the entries that follow it in the unit. For each it
// calls begin with the entry's offset; read, which reads the attributes, unless the entry ends a
// list of children; and end with the offset behind the entry. end returns the offset at which to go
// on, this or a later one; more is false if that is enough. The unit is read in growing parts:
// begin and read may be called once more for an entry that the first part has cut off.
func (d *debugInfo) eachEntry(u *unit, off uint64, begin func(off uint64), read func(*dwarfdata.Cursor, *dwarfdata.Abbrev), end func(end uint64) (next uint64, more bool)) error {
	d.mu.Lock()
	table, err := d.abbrevs(u)
	d.mu.Unlock()
	if err != nil || off < u.Entry {
		return cmp.Or(err, ErrNoEntry)
	}
	d.open(u)
	buffer := borrow(0)
	defer giveBack(buffer)
	for room := uint64(1 << 8); off < u.End; room *= 4 {
		limit := min(u.End, off+room)
		data, err := d.unitBit(u, off, limit, buffer)
		if err != nil {
			return err
		}
		c := dwarfdata.Cursor{Reader: dwarfdata.New(data, d.order), Unit: &u.Unit, Base: off}
		for c.More() {
			at := c.Offset()
			begin(at)
			if code := c.ULEB128(); code != 0 && !c.Bad {
				a := table.Find(code)
				if a == nil {
					return fmt.Errorf("offset %#x: no abbreviation has code %d: %w", at, code, ErrNoEntry)
				}
				read(&c, a)
			}
			if c.Bad && c.Err == nil && limit < u.End {
				break
			}
			if c.Bad {
				return fmt.Errorf("offset %#x: the entry is cut off, or of an unknown form: %w", at, ErrNoEntry)
			}
			if err := d.spend(&d.typesLeft, 1); err != nil {
				return err
			}
			next, more := end(c.Offset())
			if !more {
				return nil
			}
			if off = next; off < c.Offset() || off > limit {
				break
			}
			c.Take(off - c.Offset())
		}
	}
	return nil
}
