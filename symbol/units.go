package symbol

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
)

// Unit types, DWARF 5 table 7.2, that have functions.
const (
	utCompile = 1
	utPartial = 3
)

// readUnits walks the unit headers of .debug_info (DWARF 5 section 7.5.1) and
// checks what debug/dwarf reads up front: each unit's abbreviations.
func (d *debugInfo) readUnits(info, abbrevs []byte) error {
	tables := make(map[uint64]bool)
	abbrevLeft := len(abbrevs)
	for at := uint64(0); at < uint64(len(info)); {
		c := cursor{data: info[at:], order: d.order}
		n, offsetSize := c.unitLength()
		start := uint64(len(info)) - uint64(len(c.data))
		if c.bad || n > uint64(len(c.data)) {
			return fmt.Errorf("unit at offset %#x of .debug_info: length %#x is larger than what is left", at, n)
		}
		if n == 0 { // padding
			at = start
			continue
		}
		c.data = c.data[:n]
		version := c.uint(2)
		kind := uint64(utCompile)
		var abbrev uint64
		var addrSize uint64
		if version >= 5 {
			kind = c.uint(1)
			addrSize = c.uint(1)
			abbrev = c.uint(offsetSize)
		} else {
			abbrev = c.uint(offsetSize)
			addrSize = c.uint(1)
		}
		if c.bad || version < 2 || version > 5 || addrSize != 4 && addrSize != 8 {
			return fmt.Errorf("unit at offset %#x of .debug_info: DWARF version %d, address size %d, length %#x", at, version, addrSize, n)
		}
		switch kind {
		case utCompile, utPartial:
			d.units = append(d.units, unit{
				entry:   dwarf.Offset(start + n - uint64(len(c.data))),
				end:     dwarf.Offset(start + n),
				version: int(version), addrSize: int(addrSize),
			})
		}
		if !tables[abbrev] {
			tables[abbrev] = true
			if abbrevLeft -= abbrevSize(abbrevs, abbrev, d.order); abbrevLeft < 0 {
				return fmt.Errorf("unit at offset %#x of .debug_info: abbreviation tables overlap", at)
			}
		}
		at = start + n
	}
	return nil
}

// abbrevSize returns how many bytes the abbreviations at an offset take up,
// DWARF 5 section 7.5.3.
func abbrevSize(abbrevs []byte, off uint64, order binary.ByteOrder) int {
	const implicitConst = 0x21
	if off > uint64(len(abbrevs)) {
		return 0
	}
	c := cursor{data: abbrevs[off:], order: order}
	for c.uleb() != 0 {
		c.uleb() // tag
		c.uint(1)
		for {
			attr, form := c.uleb(), c.uleb()
			if form == implicitConst {
				c.uleb()
			}
			if attr == 0 && form == 0 {
				break
			}
		}
	}
	return len(abbrevs) - int(off) - len(c.data)
}

// readRanges reads the first entry of each unit for the code that it covers.
func (d *debugInfo) readRanges() error {
	r := d.data.Reader()
	for i := range d.units {
		u := &d.units[i]
		r.Seek(u.entry)
		e, err := r.Next()
		if err != nil || e == nil || e.Offset != u.entry {
			continue // this unit cannot be read; others can
		}
		if err := d.entryText(e); err != nil {
			return err
		}
		u.header = *e
		u.name, _ = e.Val(dwarf.AttrName).(string)
		u.dir, _ = e.Val(dwarf.AttrCompDir).(string)
		language, _ := e.Val(dwarf.AttrLanguage).(int64)
		u.language = languageOf(language)
		ranges, err := d.entryRanges(e)
		if err == errTooMuch {
			return err
		}
		for _, r := range ranges {
			d.ranges.add(r[0], r[1], int32(i))
		}
	}
	d.ranges.sort()
	return nil
}

// language is how a unit's names are spelled.
type language uint8

const (
	languageFlat  language = iota // C, Go, Fortran, assembly: the name as it is
	languageCXX                   // linkage names; namespaces and classes with ::
	languageScope                 // Rust, D: namespaces with ::, linkage names are not for people
)

// languageOf sorts the DW_LANG codes, DWARF 5 table 7.17 and its later
// additions.
func languageOf(code int64) language {
	switch code {
	case 0x04, 0x11, 0x1a, 0x21, 0x2b, 0x3a: // C_plus_plus, ObjC_plus_plus, C++ 11, 14, 17, 20
		return languageCXX
	case 0x13, 0x1c: // D, Rust
		return languageScope
	}
	return languageFlat
}
