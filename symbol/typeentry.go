package symbol

import (
	"debug/dwarf"
	"errors"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// typeEntry is an entry of .debug_info for a type or a parameter.
type typeEntry struct {
	info *debugInfo
	unit *unit
	off  uint64
	tag  dwarf.Tag

	name, origin dwarfdata.Value
	of           dwarfdata.Value // the type that this type is made of, or that the parameter has
	class        dwarfdata.Value // the class of a pointer to a member
	upper, count dwarfdata.Value // bounds of an array
	artificial   bool
	elsewhere    bool // the type is in a unit of types
	children     bool
	end          uint64 // offset behind the entry itself
}

var errType = errors.New("type cannot be read")

// entryAt reads the entry that to refers to. It looks in the unit near first.
func (d *debugInfo) entryAt(near *unit, to dwarfdata.Value) (e typeEntry, err error) {
	d, u := d.unitFor(near, to)
	if u == nil {
		return e, errType // in a unit of types, or nowhere
	}
	err = d.entriesAt(u, to.N, func(x *typeEntry) bool {
		e = *x
		return false
	})
	return e, err
}

// entriesAt calls yield with the entry at off and the entries that follow it in the unit, until
// yield returns false or the unit ends. An entry without a tag ends a list of children.
func (d *debugInfo) entriesAt(u *unit, off uint64, yield func(*typeEntry) bool) error {
	var e typeEntry
	err := d.eachEntry(u, off, func(off uint64) { e = typeEntry{info: d, unit: u, off: off} },
		func(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) { e.read(c, a) },
		func(end uint64) (next uint64, more bool) {
			e.end = end
			return end, yield(&e)
		})
	d.lessOf(err)
	return err
}

func (e *typeEntry) read(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) {
	e.tag, e.children = a.Tag, a.Children
	for i := range a.Attrs {
		x := &a.Attrs[i]
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrName:
			e.name = v
		case dwarf.AttrType:
			e.of = v
		case dwarf.AttrContainingType:
			e.class = v
		case dwarf.AttrAbstractOrigin, dwarf.AttrSpecification:
			e.origin = v
		case dwarf.AttrSignature:
			e.elsewhere = true
		case dwarf.AttrArtificial:
			e.artificial = true
		case dwarf.AttrUpperBound:
			e.upper = v
		case dwarf.AttrCount:
			e.count = v
		}
	}
}

// eachChild calls yield with the children of an entry.
func (e *typeEntry) eachChild(yield func(*typeEntry)) error {
	if !e.children {
		return nil
	}
	depth := 0
	return e.info.entriesAt(e.unit, e.end, func(x *typeEntry) bool {
		switch {
		case x.tag == 0:
			depth--
		case depth == 0:
			yield(x)
		}
		if x.tag != 0 && x.children {
			depth++
		}
		return depth >= 0
	})
}
