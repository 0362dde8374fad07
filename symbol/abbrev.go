package symbol

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// abbrevs is a table of abbreviations. Their kinds are scanKinds.
type abbrevs struct {
	*dwarfdata.Abbrevs
	code bool  // one is of functions that have code
	err  error // why the table cannot be used
}

// abbrevs returns the abbreviations of a unit. Units may share a table: it is read once, also if it
// cannot be used. The caller holds d.mu.
func (d *debugInfo) abbrevs(u *unit) (*abbrevs, error) {
	key := u.AbbrevKey()
	t := d.tables[key]
	if t == nil {
		t = d.readAbbrevs(u)
		d.tables[key] = t
	}
	if t.err != nil {
		return nil, t.err
	}
	return t, nil
}

func (d *debugInfo) readAbbrevs(u *unit) *abbrevs {
	t, full := new(abbrevs), error(nil)
	err := d.spend(&d.abbrevsLeft, 1) // what is found out by reading is found out once more by each unit
	if err == nil {
		_, err = d.abbrev.scan(u.Abbrev, d.order, func(c *sectionReader) {
			t.code = false
			t.Abbrevs, full = dwarfdata.ReadAbbrevs(&c.Reader, c.whole, u.Encoding, func(a *dwarfdata.Abbrev) uint8 {
				kind := kindOf(a)
				t.code = t.code || kind == scanFunction
				return uint8(kind)
			}, func(bytes int) error {
				if err := d.spend(&d.abbrevsLeft, uint64(c.Off)); err != nil {
					return err
				}
				return d.take(bytes)
			})
		})
	}
	if err == nil {
		err = full
	}
	if err != nil {
		t.err = fmt.Errorf("abbreviations at offset %#x: %w", u.Abbrev, err)
	}
	return t
}

// abbrevOf returns the abbreviation of one code of a unit, or nil if there is none.
// It does not keep the others. Units often share abbreviations with the unit before,
// so it remembers the last one. The caller holds d.mu.
func (d *debugInfo) abbrevOf(u *unit, code uint64) (a *dwarfdata.Abbrev, err error) {
	key := u.AbbrevKey()
	if d.last.abbrev != nil && d.last.key == key && d.last.code == code {
		return d.last.abbrev, nil
	}
	if err := d.spend(&d.abbrevsLeft, 1); err != nil {
		return nil, err
	}
	n, err := d.abbrev.scan(u.Abbrev, d.order, func(c *sectionReader) {
		a = dwarfdata.FindAbbrev(&c.Reader, c.whole, u.Encoding, code)
	})
	if err == nil {
		err = d.spend(&d.abbrevsLeft, n)
	}
	if err == nil {
		d.last.abbrev, d.last.key, d.last.code = a, key, code
	}
	return a, err
}
