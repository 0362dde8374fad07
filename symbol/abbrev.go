package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sync"
)

// abbrev is an abbreviation: the layout of all entries that begin with one code, DWARF 5 section 7.5.3.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	attrs    []attrForm
	size     int // bytes of an entry behind its code; -1 where that varies
	scan     scanKind
	steps    []skipStep // how to go over the attributes; nil where that does not do

	// Where a reference of four bytes to the next sibling is, in bytes behind the code; -1 where
	// there is none, or that varies.
	sibling int
}

type attrForm struct {
	attr     dwarf.Attr
	form     form
	implicit int64 // value of formImplicitConst
}

// abbrevs is a table of abbreviations.
type abbrevs struct {
	list []abbrev          // for the codes 1, 2, …
	more map[uint64]abbrev // for codes out of this order
	code bool              // one is of functions that have code
	err  error             // why the table cannot be used
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

// nextCode reads the code of the next abbreviation; 0 is the end of a table. Some just-in-time
// compilers (LuaJIT) leave that 0 out at the section's end.
func nextCode(c *sectionReader) uint64 {
	if c.whole && c.Left() == 0 {
		return 0
	}
	return c.ULEB128()
}

// readAbbrev reads what follows a code in a table. It puts the attributes into room.
func readAbbrev(c *sectionReader, u *unit, room []attrForm) (a abbrev, rest []attrForm) {
	a.tag = dwarf.Tag(c.ULEB128())
	a.children = c.Uint(1) != 0
	start := len(room)
	for {
		x := attrForm{attr: dwarf.Attr(c.ULEB128()), form: form(c.ULEB128())}
		if x.form == formImplicitConst {
			x.implicit = c.SLEB128()
		}
		if x.attr == 0 && x.form == 0 {
			break
		}
		if n := x.form.size(u); n >= 0 && a.size >= 0 {
			a.size += n
		} else {
			a.size = -1
		}
		room = append(room, x)
	}
	a.attrs = room[start:len(room):len(room)]
	return a, room
}

// abbrevKey is the key of a unit's table. The sizes of forms depend on the unit.
type abbrevKey struct {
	off                           uint64
	version, addrSize, offsetSize uint8
}

// abbrevs returns the abbreviations of a unit. Units may share a table: it is read once, also if it
// cannot be used. The caller holds d.mu.
func (d *debugInfo) abbrevs(u *unit) (*abbrevs, error) {
	key := abbrevKey{u.abbrev, u.version, u.addrSize, u.offsetSize}
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

func (d *debugInfo) readAbbrevs(u *unit) (t *abbrevs) {
	tooMuch := func(err error) *abbrevs {
		return &abbrevs{err: fmt.Errorf("abbreviations at offset %#x: %w", u.abbrev, err)}
	}
	if err := d.spend(&d.abbrevsLeft, 1); err != nil { // what is found out by reading is found out once more by each unit
		return tooMuch(err)
	}
	room := abbrevRooms.Get().(*abbrevRoom)
	defer abbrevRooms.Put(room)
	n, err := d.abbrev.scan(u.abbrev, d.order, func(c *sectionReader) {
		t = &abbrevs{}
		list, attrs, steps := room.list[:0], room.attrs[:0], room.steps[:0]
		for code := nextCode(c); code != 0; code = nextCode(c) {
			var a abbrev
			a, attrs = readAbbrev(c, u, attrs)
			steps = a.prepare(u, steps)
			t.code = t.code || a.scan == scanFunction
			switch {
			case code == uint64(len(list)+1):
				list = append(list, a)
			case t.more == nil:
				t.more = map[uint64]abbrev{code: a.clone()}
			default:
				t.more[code] = a.clone()
			}
		}
		*room = abbrevRoom{list, attrs, steps}
	})
	if err == nil {
		err = d.spend(&d.abbrevsLeft, n)
	}
	if err == nil {
		const one, other, attr, step = 96, 400, 16, 8 // bytes
		err = d.take(one*len(room.list) + other*len(t.more) + attr*len(room.attrs) + step*len(room.steps))
	}
	if err != nil {
		return tooMuch(err)
	}
	t.list = room.copy()
	return t
}

// abbrevRoom is room for a table that is being read. It is used again for the next table.
type abbrevRoom struct {
	list  []abbrev
	attrs []attrForm
	steps []skipStep
}

var abbrevRooms = sync.Pool{New: func() any { return new(abbrevRoom) }}

// copy returns the list with attributes and steps of its own.
func (r *abbrevRoom) copy() []abbrev {
	list := slices.Clone(r.list)
	attrs, steps := make([]attrForm, 0, len(r.attrs)), make([]skipStep, 0, len(r.steps))
	for i := range list {
		a := &list[i]
		at, step := len(attrs), len(steps)
		attrs, steps = append(attrs, a.attrs...), append(steps, a.steps...)
		a.attrs = attrs[at:len(attrs):len(attrs)]
		if a.steps != nil {
			a.steps = steps[step:len(steps):len(steps)]
		}
	}
	return list
}

// clone returns a copy with attributes and steps of its own.
func (a abbrev) clone() abbrev {
	a.attrs, a.steps = slices.Clone(a.attrs), slices.Clone(a.steps)
	return a
}

// abbrevOf returns the abbreviation of one code of a unit, or nil if there is none.
// It does not keep the others. Units often share abbreviations with the unit before,
// so it remembers the last one. The caller holds d.mu.
func (d *debugInfo) abbrevOf(u *unit, code uint64) (a *abbrev, err error) {
	key := abbrevKey{u.abbrev, u.version, u.addrSize, u.offsetSize}
	if d.last.abbrev != nil && d.last.key == key && d.last.code == code {
		return d.last.abbrev, nil
	}
	if err := d.spend(&d.abbrevsLeft, 1); err != nil {
		return nil, err
	}
	n, err := d.abbrev.scan(u.abbrev, d.order, func(c *sectionReader) {
		a = nil
		var room []attrForm
		for at := nextCode(c); at != 0; at = nextCode(c) {
			x, r := readAbbrev(c, u, room[:0])
			if room = r; at == code {
				a = &x
				break
			}
		}
	})
	if err == nil {
		err = d.spend(&d.abbrevsLeft, n)
	}
	if err == nil {
		d.last.abbrev, d.last.key, d.last.code = a, key, code
	}
	return a, err
}
