package dwarf

import (
	"bytes"
	godwarf "debug/dwarf"
	"iter"
	"slices"
	"sync"
)

// Abbrev is an abbreviation: the layout of all entries that begin with one code, DWARF 5 section
// 7.5.3.
type Abbrev struct {
	Tag      godwarf.Tag
	Children bool  // entries are followed by those within them
	Kind     uint8 // what the caller of [ReadAbbrevs] says of such entries
	Attrs    []AttrForm
	Size     int // bytes of an entry behind its code; -1 where that varies

	// Where a reference of four bytes to the next sibling is, in bytes behind the code; -1 where
	// there is none, or that varies.
	Sibling int

	steps []skipStep // how to go over the attributes; nil where that does not do
}

// AttrForm is an attribute of an abbreviation.
type AttrForm struct {
	Attr     godwarf.Attr
	Form     Form
	Implicit int64 // value of FormImplicitConst
}

// Abbrevs is a table of abbreviations. Many units may share it, and use it at the same time.
type Abbrevs struct {
	list []Abbrev          // for the codes 1, 2, …
	more map[uint64]Abbrev // for codes out of this order
}

// Find returns the abbreviation of a code; nil if there is none.
func (t *Abbrevs) Find(code uint64) *Abbrev {
	if code-1 < uint64(len(t.list)) {
		return &t.list[code-1]
	}
	if a, ok := t.more[code]; ok {
		return &a
	}
	return nil
}

// All yields all abbreviations of the table.
func (t *Abbrevs) All() iter.Seq[*Abbrev] {
	return func(yield func(*Abbrev) bool) {
		for i := range t.list {
			if !yield(&t.list[i]) {
				return
			}
		}
		for _, a := range t.more {
			if !yield(&a) {
				return
			}
		}
	}
}

// AbbrevKey is the key of a unit's table among a file's tables. The sizes of forms depend on the
// unit.
type AbbrevKey struct {
	Off uint64 // in .debug_abbrev
	Encoding
}

// nextCode reads the code of the next abbreviation; 0 is the end of a table. Some just-in-time
// compilers (LuaJIT) leave that 0 out at the section's end. whole says that r goes to that end.
func nextCode(r *Reader, whole bool) uint64 {
	if whole && r.Left() == 0 {
		return 0
	}
	return r.ULEB128()
}

// readAbbrev reads what follows a code in a table. It puts the attributes into room.
func readAbbrev(r *Reader, e Encoding, room []AttrForm) (a Abbrev, rest []AttrForm) {
	a.Tag = godwarf.Tag(r.ULEB128())
	a.Children = r.U8() != 0
	start := len(room)
	for {
		x := AttrForm{Attr: godwarf.Attr(r.ULEB128()), Form: Form(r.ULEB128())}
		if x.Form == FormImplicitConst {
			x.Implicit = r.SLEB128()
		}
		if x.Attr == 0 && x.Form == 0 || r.Bad {
			break
		}
		if n := x.Form.Size(e); n >= 0 && a.Size >= 0 {
			a.Size += n
		} else {
			a.Size = -1
		}
		room = append(room, x)
	}
	a.Attrs = room[start:len(room):len(room)]
	return a, room
}

// ReadAbbrevs reads the table of a unit with an encoding; whole says that r goes to the end of
// .debug_abbrev. kind gives each abbreviation its Kind; it may be nil. take may refuse the memory
// that the table takes up, in bytes; the error is take's. If the table is cut off, r is bad, and t
// is nil.
func ReadAbbrevs(r *Reader, whole bool, e Encoding, kind func(*Abbrev) uint8, take func(bytes int) error) (t *Abbrevs, err error) {
	room := abbrevRooms.Get().(*abbrevRoom)
	defer abbrevRooms.Put(room)
	t = new(Abbrevs)
	list, attrs, steps := room.list[:0], room.attrs[:0], room.steps[:0]
	var a Abbrev
	for code := nextCode(r, whole); code != 0; code = nextCode(r, whole) {
		a, attrs = readAbbrev(r, e, attrs)
		steps = a.prepare(e, steps)
		if kind != nil {
			a.Kind = kind(&a)
		}
		switch {
		case code == uint64(len(list)+1):
			list = append(list, a)
		case t.more == nil:
			t.more = map[uint64]Abbrev{code: a.clone()}
		default:
			t.more[code] = a.clone()
		}
	}
	*room = abbrevRoom{list, attrs, steps}
	if r.Bad {
		return nil, nil
	}
	const one, other, attr, step = 96, 400, 16, 8 // bytes
	if err := take(one*len(list) + other*len(t.more) + attr*len(attrs) + step*len(steps)); err != nil {
		return nil, err
	}
	t.list = room.copy()
	return t, nil
}

// abbrevRoom is room for a table that is being read. It is used again for the next table.
type abbrevRoom struct {
	list  []Abbrev
	attrs []AttrForm
	steps []skipStep
}

var abbrevRooms = sync.Pool{New: func() any { return new(abbrevRoom) }}

// copy returns the list with attributes and steps of its own.
func (r *abbrevRoom) copy() []Abbrev {
	list := slices.Clone(r.list)
	attrs, steps := make([]AttrForm, 0, len(r.attrs)), make([]skipStep, 0, len(r.steps))
	for i := range list {
		a := &list[i]
		at, step := len(attrs), len(steps)
		attrs, steps = append(attrs, a.Attrs...), append(steps, a.steps...)
		a.Attrs = attrs[at:len(attrs):len(attrs)]
		if a.steps != nil {
			a.steps = steps[step:len(steps):len(steps)]
		}
	}
	return list
}

// clone returns a copy with attributes and steps of its own.
func (a Abbrev) clone() Abbrev {
	a.Attrs, a.steps = slices.Clone(a.Attrs), slices.Clone(a.steps)
	return a
}

// FindAbbrev reads a table, as [ReadAbbrevs] does, up to the abbreviation of one code, and keeps no
// other. It returns nil if the table ends before.
func FindAbbrev(r *Reader, whole bool, e Encoding, code uint64) *Abbrev {
	var room []AttrForm
	for at := nextCode(r, whole); at != 0; at = nextCode(r, whole) {
		a, attrs := readAbbrev(r, e, room[:0])
		if room = attrs; at == code {
			found := a
			found.Sibling = -1 // one entry is read: how to skip others does not matter
			return &found
		}
	}
	return nil
}

// skipStep goes over attributes of a fixed size, then over one whose size varies.
type skipStep struct {
	fixed uint16
	then  Form // formLEB, FormBlock1, FormBlock, FormString; 0 for none
}

// formLEB stands for all forms that are one LEB128 number.
const formLEB = FormUdata

// prepare fills in how entries are skipped. It puts the steps into room.
func (a *Abbrev) prepare(e Encoding, room []skipStep) (rest []skipStep) {
	a.Sibling = -1
	fixed, ok, start := 0, true, len(room)
	for i := range a.Attrs {
		x := &a.Attrs[i]
		if x.Attr == godwarf.AttrSibling && x.Form == FormRef4 && len(room) == start && ok {
			a.Sibling = fixed
		}
		if n := x.Form.Size(e); n >= 0 {
			fixed += n
			continue
		}
		then := x.Form
		switch then {
		case FormUdata, FormSdata, FormRefUdata, FormAddrx, FormGNUAddrIndex, FormStrx, FormGNUStrIndex, FormRnglistx, FormLoclistx:
			then = formLEB
		case FormExprloc:
			then = FormBlock
		case FormBlock, FormBlock1, FormString:
		default:
			ok = false
		}
		ok = ok && fixed < 1<<16
		room = append(room, skipStep{uint16(fixed), then})
		fixed = 0
	}
	if !ok || fixed >= 1<<16 {
		return room[:start]
	}
	if fixed > 0 {
		room = append(room, skipStep{fixed: uint16(fixed)})
	}
	a.steps = room[start:len(room):len(room)]
	return room
}

// Over returns the offset in data behind the attributes of an entry, which begin at off. It returns
// -1 where the data ends before, or a [Cursor] has to read the attributes one by one.
func (a *Abbrev) Over(data []byte, off int) int {
	if a.Size >= 0 {
		if off += a.Size; off > len(data) {
			return -1
		}
		return off
	}
	if a.steps == nil {
		return -1
	}
	for _, s := range a.steps {
		off += int(s.fixed)
		if off >= len(data) {
			if off == len(data) && s.then == 0 {
				return off
			}
			return -1
		}
		switch s.then {
		case formLEB:
			for n := 0; data[off] >= 0x80; n++ {
				if off++; off == len(data) || n == maxLEB {
					return -1
				}
			}
			off++
		case FormBlock1:
			off += 1 + int(data[off])
		case FormBlock:
			n := int(data[off])
			if n >= 0x80 {
				return -1
			}
			off += 1 + n
		case FormString:
			i := bytes.IndexByte(data[off:], 0)
			if i < 0 {
				return -1
			}
			off += i + 1
		}
		if off > len(data) {
			return -1
		}
	}
	return off
}

// maxLEB is how many bytes of a number Over goes past. Longer ones are rare.
const maxLEB = 8
