package symbol

import (
	"debug/dwarf"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Ref refers to one entry of the debug information of a module's file. The zero Ref refers to none.
// Refs of one [Symbolizer] are equal if they refer to the same entry.
type Ref struct {
	of       *sharedInfo
	part     part
	skeleton uint64 // of split DWARF: the offset of the first entry of the unit's skeleton
	off      uint64 // of the entry in the part's section
}

// IsZero reports whether r refers to nothing.
func (r Ref) IsZero() bool { return r.of == nil }

// File returns a Ref that is the same for all entries of one file. It refers to no entry.
func (r Ref) File() Ref { return Ref{of: r.of} }

// Offset returns the offset of the entry in its section. It tells entries apart in messages alone.
func (r Ref) Offset() uint64 { return r.off }

// part says which DWARF an entry is in.
type part uint8

const (
	inFile       part = iota // .debug_info of the module, or of its separate debug file
	inTypes                  // .debug_types
	inSplit                  // of the rest of a split unit
	inSupplement             // of the supplementary file
)

// ErrNoEntry says that debug information lacks an entry, or that it cannot be read.
var ErrNoEntry = errors.New("no such entry in the debug information")

// Entry is one entry of the debug information: of a type, a variable, a function (DWARF 5, section
// 2.1). It is a copy, and stays as it is.
type Entry struct {
	Ref
	Tag dwarf.Tag

	s        *Symbolizer
	children bool
	end      uint64 // offset behind the entry itself
	next     uint64 // offset at which reading goes on: end, or behind the entry's children
	attrs    []attribute
}

// attribute is an attribute of an entry as it is encoded.
type attribute struct {
	attr dwarf.Attr
	dwarfdata.Value
}

// Entry reads the entry that r refers to. The error wraps [ErrNoEntry].
func (s *Symbolizer) Entry(r Ref) (e *Entry, err error) {
	err = s.reading(r, func(d *debugInfo, u *unit) error {
		e = nil
		return d.rawEntries(s, u, r, r.off, func(x *Entry) bool {
			e = x
			return false
		})
	})
	if err == nil && (e == nil || e.Tag == 0) {
		err = fmt.Errorf("offset %#x: %w", r.off, ErrNoEntry)
	}
	return e, err
}

// Children returns the entries directly within e, in the order of the file. The error says why they
// cannot be read.
func (e *Entry) Children() (list []*Entry, err error) {
	if !e.children {
		return nil, nil
	}
	err = e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		list = nil
		return d.childEntries(u, e, func(x *Entry) bool {
			list = append(list, x)
			return false
		})
	})
	return list, err
}

// reading calls read with the DWARF and the unit of r.
func (s *Symbolizer) reading(r Ref, read func(d *debugInfo, u *unit) error) error {
	if r.of == nil {
		return ErrNoEntry
	}
	err := ErrNoEntry
	r.of.ask(func(d *debugInfo) {
		if d, u := d.partOf(r); u != nil {
			err = read(d, u)
		}
	})
	return err
}

// partOf returns the DWARF and the unit that have the entry of r; u is nil if they are not there.
func (d *debugInfo) partOf(r Ref) (_ *debugInfo, u *unit) {
	switch r.part {
	case inTypes:
		d = d.types
	case inSplit:
		if u = d.unitAt(r.skeleton); u == nil {
			return nil, nil
		}
		d.open(u)
		if u.split == nil {
			return nil, nil
		}
		d = u.split.info
	case inSupplement:
		d = d.supplement()
	}
	if d == nil {
		return nil, nil
	}
	if u = d.unitAt(r.off); u != nil {
		d.mu.Lock()
		if h, _ := d.header(u); h == nil {
			u.head = &header{}
		}
		d.mu.Unlock()
	}
	return d, u
}

// rawEntries calls yield with the entry at off of the part of r, and with the entries that follow
// it in the unit, until yield returns false or the unit ends. An entry without a tag ends a list of
// children. yield may set an entry's next to a later offset, to go on there.
func (d *debugInfo) rawEntries(s *Symbolizer, u *unit, r Ref, off uint64, yield func(*Entry) bool) error {
	var e *Entry
	return d.eachEntry(u, off, func(off uint64) {
		e = &Entry{Ref: r, s: s}
		e.off = off
	}, func(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) {
		e.Tag, e.children = a.Tag, a.Children
		e.attrs = make([]attribute, 0, len(a.Attrs))
		for i := range a.Attrs {
			x := &a.Attrs[i]
			e.attrs = append(e.attrs, attribute{x.Attr, c.Value(x.Form, x.Implicit)})
		}
	}, func(end uint64) (next uint64, more bool) {
		e.end, e.next = end, end
		more = yield(e)
		return e.next, more
	})
}

// childEntries calls enter with the entries directly within e. If enter returns true, it calls
// enter with the entries within that one, too, and at the end of these with an entry without a tag.
func (d *debugInfo) childEntries(u *unit, e *Entry, enter func(*Entry) bool) error {
	if !e.children { // what follows it is not within it
		return nil
	}
	entered := []bool{true} // by level: whether enter is called with the entries there
	return d.rawEntries(e.s, u, e.Ref, e.end, func(x *Entry) bool {
		at := entered[len(entered)-1]
		if x.Tag == 0 {
			entered = entered[:len(entered)-1]
			if at && len(entered) > 0 {
				enter(x)
			}
			return len(entered) > 0
		}
		within := at && enter(x)
		switch sibling, ok := x.attr(dwarf.AttrSibling); {
		case !x.children:
		case !within && ok && sibling.Class == dwarfdata.ClassReference && sibling.N > x.end && sibling.N < u.End:
			x.next = sibling.N
		case len(entered) == maxDepth:
			return false
		default:
			entered = append(entered, within)
		}
		return true
	})
}

func (e *Entry) attr(a dwarf.Attr) (dwarfdata.Value, bool) {
	for i := range e.attrs {
		if e.attrs[i].attr == a {
			return e.attrs[i].Value, e.attrs[i].Class != dwarfdata.ClassNone
		}
	}
	return dwarfdata.Value{}, false
}

// Has reports whether the entry has an attribute.
func (e *Entry) Has(a dwarf.Attr) bool {
	_, ok := e.attr(a)
	return ok
}

// Flag reports whether an attribute is there and true.
func (e *Entry) Flag(a dwarf.Attr) bool {
	v, ok := e.attr(a)
	return ok && v.N != 0
}

// Constant returns an attribute that is a number. A negative one is there as its two's complement
// if the form has a sign.
func (e *Entry) Constant(a dwarf.Attr) (n uint64, ok bool) {
	v, ok := e.attr(a)
	return v.N, ok && v.Class == dwarfdata.ClassConstant
}

// Address returns an attribute that is a link-time address.
func (e *Entry) Address(a dwarf.Attr) (addr uint64, ok bool) {
	v, has := e.attr(a)
	if !has || v.Class != dwarfdata.ClassAddress && v.Class != dwarfdata.ClassAddrIndex {
		return 0, false
	}
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		addr, ok = d.address(u, u.head, v)
		return nil
	})
	return addr, ok
}

// Text returns an attribute that is a string; "" if it is not there.
func (e *Entry) Text(a dwarf.Attr) (text string) {
	v, ok := e.attr(a)
	if !ok || !v.Text() {
		return ""
	}
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		text = d.text(u, v)
		return nil
	})
	return text
}

// Reference returns the entry that an attribute refers to; the zero Ref if the attribute is not
// there.
func (e *Entry) Reference(a dwarf.Attr) (r Ref) {
	v, ok := e.attr(a)
	if !ok {
		return Ref{}
	}
	return e.refer(v)
}

// At returns the entry at an offset of the section that e is in; if ofUnit is set, at an offset in
// e's unit.
func (e *Entry) At(off uint64, ofUnit bool) (r Ref) {
	if !ofUnit {
		return e.refer(dwarfdata.Value{N: off, Class: dwarfdata.ClassReference})
	}
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		r = e.refer(dwarfdata.Value{N: u.Start + off, Class: dwarfdata.ClassReference})
		return nil
	})
	return r
}

func (e *Entry) refer(v dwarfdata.Value) (r Ref) {
	switch v.Class {
	case dwarfdata.ClassReference:
		r = e.Ref
		r.off = v.N
	case dwarfdata.ClassSupReference:
		r = Ref{of: e.of, part: inSupplement, off: v.N}
	case dwarfdata.ClassSignature:
		e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
			in, unit := d.typeUnit(v.N)
			if unit == nil {
				return nil
			}
			r = e.Ref
			if r.off = unit.TypeEntry; in.typesOnly {
				r.part = inTypes
			} else if r.part == inTypes {
				r.part = inFile
			}
			return nil
		})
	}
	return r
}

// Expression returns the expression that an attribute is or, of a list of locations, has at a
// link-time address; nil if there is none.
func (e *Entry) Expression(a dwarf.Attr, addr uint64) (x *Expression, err error) {
	v, ok := e.attr(a)
	if !ok {
		return nil, nil
	}
	err = e.s.reading(e.Ref, func(d *debugInfo, u *unit) (err error) {
		x = nil
		code, err := d.located(u, v, addr)
		if err == nil && code != nil {
			x = d.expression(u, code)
		}
		return err
	})
	return x, err
}

// Block returns the bytes of an attribute that is neither a number nor a string; nil if it is not
// there.
func (e *Entry) Block(a dwarf.Attr) (b []byte) {
	v, ok := e.attr(a)
	if !ok || v.Class != dwarfdata.ClassBlock {
		return nil
	}
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) (err error) {
		lo, hi := v.Block()
		b, err = d.info.bytes(lo, hi)
		b = append([]byte(nil), b...)
		return err
	})
	return b
}

// Listed reports whether an attribute is a list of locations.
func (e *Entry) Listed(a dwarf.Attr) bool {
	v, ok := e.attr(a)
	return ok && (v.Class == dwarfdata.ClassList || v.Class == dwarfdata.ClassOffset || v.Class == dwarfdata.ClassConstant)
}

// Prefix returns the names of the namespaces and classes around the entry of a type or function, as
// C++ and Rust have them before its name: "outer::inner::". Like GDB, it has none for the methods
// of a class without a name.
func (e *Entry) Prefix() (prefix string) {
	if e.Tag == dwarf.TagEnumerationType { // one in a unit of its own is outside of the class that declares it
		if declared, err := e.s.Entry(e.Reference(dwarf.AttrSpecification)); err == nil {
			e = declared
		}
	}
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		prefix = ""
		if !u.head.language.scopesTypes() {
			return nil
		}
		if isType(e.Tag) || e.Tag == dwarf.TagSubprogram {
			prefix = d.prefix(u, e.off)
		}
		return nil
	})
	return prefix
}

// Root returns the first entry of the entry's unit, which all others of the unit are within.
func (e *Entry) Root() (r Ref) {
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		r = e.refer(dwarfdata.Value{N: u.Entry, Class: dwarfdata.ClassReference})
		return nil
	})
	return r
}

// Language returns the language of the entry's unit, by GDB's name of it, as [Symbolizer.Language]
// does.
func (e *Entry) Language() (name string) {
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		name = ""
		code := u.head.languageCode
		if code.Class != dwarfdata.ClassConstant && d.skeleton != nil {
			code = d.skeleton.languageCode
		}
		if code.Class == dwarfdata.ClassConstant {
			name = languageName(code.N)
		}
		return nil
	})
	return name
}

// Producer returns the compiler that has written the entry's unit (DW_AT_producer).
func (e *Entry) Producer() (name string) {
	e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		name = d.text(u, u.head.producer)
		return nil
	})
	return name
}
