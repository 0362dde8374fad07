package fromelf

import (
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// attrForm is an attribute of an abbreviation.
type attrForm struct {
	attr, form uint32
	implicit   int64 // value of DW_FORM_implicit_const
}

// abbrev is an abbreviation: the layout of entries, DWARF 5 section 7.5.3.
type abbrev struct {
	tag      uint32
	children bool
	sibling  bool // entries say where the next one of their level is
	size     int  // bytes of an entry behind its code; -1 if that varies
	attrs    []attrForm
}

// abbrevs is a unit's table of abbreviations.
type abbrevs struct {
	list []abbrev          // for the codes 1, 2, …
	more map[uint64]abbrev // for codes out of this order
}

func (t *abbrevs) find(code uint64) *abbrev {
	if code-1 < uint64(len(t.list)) {
		return &t.list[code-1]
	}
	if a, ok := t.more[code]; ok {
		return &a
	}
	return nil
}

// abbrevKey is the key of a table: sizes of forms depend on the unit.
type abbrevKey struct {
	off                           uint64
	version, addrSize, offsetSize uint8
}

func (u *unit) abbrevKey() abbrevKey {
	return abbrevKey{u.abbrev, u.version, u.addrSize, u.offsetSize}
}

// readAbbrevs reads the table of a unit.
func (s *sections) readAbbrevs(u *unit) (*abbrevs, error) {
	if u.abbrev >= uint64(len(s.abbrev)) {
		return nil, fmt.Errorf("abbreviations at offset %#x lie beyond the section", u.abbrev)
	}
	if err := s.spend(0); err != nil {
		return nil, fmt.Errorf("abbreviations at offset %#x: %w", u.abbrev, err)
	}
	c := dwarfdata.New(s.abbrev[u.abbrev:], s.order)
	defer func() { s.spend(uint64(c.Off)) }() // an error is the next table's
	t := new(abbrevs)
	var room []attrForm
	for c.Left() > 0 {
		code := c.ULEB128()
		if code == 0 {
			break
		}
		a := abbrev{tag: uint32(c.ULEB128()), children: c.Uint(1) != 0}
		start := len(room)
		for {
			attr, form := c.ULEB128(), c.ULEB128()
			if attr == 0 && form == 0 || c.Bad {
				break
			}
			x := attrForm{attr: uint32(attr), form: uint32(form)}
			if x.form == formImplicitConst {
				x.implicit = c.SLEB128()
			}
			if x.attr == atSibling {
				a.sibling = true
			}
			if n := formSize(x.form, u); n >= 0 && a.size >= 0 {
				a.size += n
			} else {
				a.size = -1
			}
			room = append(room, x)
		}
		if c.Bad {
			return nil, fmt.Errorf("abbreviations at offset %#x are cut off, or have too large numbers", u.abbrev)
		}
		a.attrs = room[start:len(room):len(room)]
		switch {
		case code == uint64(len(t.list)+1):
			t.list = append(t.list, a)
		case t.more == nil:
			t.more = map[uint64]abbrev{code: a}
		default:
			t.more[code] = a
		}
	}
	return t, nil
}
