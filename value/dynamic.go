package value

import (
	"debug/dwarf"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// dynamic returns t with the bounds that only the frame tells: bounds of arrays of variable length.
func (c *context) dynamic(t *Type, depth int) *Type {
	if depth > maxNames || !t.varies(0) {
		return t
	}
	switch t.Kind {
	case Typedef, Const, Volatile, Restrict, Atomic, Pointer, Reference, RvalueReference:
		elem := c.dynamic(t.Elem(), depth+1)
		for _, x := range t.varied {
			if x.elem == elem {
				return x
			}
		}
		out := *t
		out.elem, out.elemRead, out.varied = elem, true, nil
		out.fullName = ""
		return t.keepVaried(&out)
	case Array:
		b, elem := t.Bounds(), t.elem
		n, text := c.stringLength(t)
		if text {
			b = Bounds{Lower: 1, Count: uint64(max(0, n)), Known: true}
		} else {
			if t.dimension != nil {
				b = c.bounds(t.dimension, b)
			}
			if e := t.Elem(); e.bare().sizeVaries() { // as for GDB, since nobody tells how far such structs are from each other
				b.Known = false
				elem = e
			} else {
				elem = c.dynamic(e, depth+1)
			}
		}
		for _, x := range t.varied {
			if x.elem == elem && *x.bounds == b {
				return x
			}
		}
		out := *t
		out.bounds, out.Size, out.elem, out.varied = &Bounds{}, 0, elem, nil
		*out.bounds = b
		out.elemRead = out.elemRead || !text
		return t.keepVaried(&out)
	case Struct, Union:
		return c.dynamicStruct(t, depth)
	}
	return t
}

// dynamicStruct returns t, of a size that only the frame tells, with its members' types, places and
// size: GNU C has arrays of variable length as members.
func (c *context) dynamicStruct(t *Type, depth int) *Type {
	if known := c.structs[t]; known != nil {
		return known
	}
	if c.structs == nil {
		c.structs = make(map[*Type]*Type)
	}
	c.structs[t] = t // for a member that is of this type itself
	out, p := *t, *t.read()
	p.fields = slices.Clone(p.fields)
	out.parts, out.Size, out.varied, out.fullName = &p, 0, nil, ""
	for i := range p.fields {
		f := &p.fields[i]
		if f.Static {
			continue
		}
		f.Type = c.dynamic(f.Type, depth+1)
		if x := c.scopes.expression(f.entry, dwarf.AttrDataMemberLoc, c.pc); x.err == nil && x.x != nil && !f.Base {
			start := *x.x
			start.Code = append([]byte{dwarfdata.OpLit0}, start.Code...) // for the object's address
			n, err := c.value(f.entry, &start)
			if err != nil {
				return t
			}
			f.Offset = int64(n)
		}
		if n, ok := f.Type.SizeOf(); ok && f.Offset >= 0 && f.Offset <= maxObject && n <= maxObject {
			out.Size = max(out.Size, uint64(f.Offset)+n)
		}
	}
	c.structs[t] = &out
	return &out
}

// keepVaried keeps what t is in a frame, for other frames, in which it often is the same.
func (t *Type) keepVaried(as *Type) *Type {
	const most = 64
	if len(t.varied) == most {
		t.varied = nil
	}
	t.varied = append(t.varied, as)
	return as
}

// varies reports whether a type has a bound that only a frame tells.
func (t *Type) varies(depth int) bool {
	if depth > maxNames {
		return false
	}
	switch t.Kind {
	case Typedef, Const, Volatile, Restrict, Atomic:
		return t.Elem().varies(depth + 1)
	case Pointer, Reference, RvalueReference:
		if e := t.Elem(); e.Kind != Pointer || depth < 4 {
			return e.varies(depth + 8)
		}
	case Array:
		if t.entry == nil || t.hasDescriptor() {
			return false
		}
		if t.entry.Tag == dwarf.TagStringType {
			return t.entry.Has(dwarf.AttrStringLength)
		}
		if d := t.dimension; !t.bounds.Known && d != nil && (d.Has(dwarf.AttrUpperBound) || d.Has(dwarf.AttrCount)) {
			return true
		}
		return t.Elem().varies(depth + 1)
	case Struct, Union:
		return t.sizeVaries()
	}
	return false
}

// sizeVaries reports whether t is a struct or a union whose size only a frame tells.
func (t *Type) sizeVaries() bool {
	return (t.Kind == Struct || t.Kind == Union) && t.Size == 0 && t.entry != nil && !t.Declared && !t.entry.Has(dwarf.AttrByteSize) && len(t.Fields()) > 0
}

// stringLength returns the length of a string of Fortran that a variable has.
func (c *context) stringLength(t *Type) (int64, bool) {
	if t.entry == nil || t.entry.Tag != dwarf.TagStringType {
		return 0, false
	}
	return c.bound(t.entry, dwarf.AttrStringLength)
}

// bounds returns the bounds of a dimension in the frame.
func (c *context) bounds(e *symbol.Entry, b Bounds) Bounds {
	if n, ok := c.bound(e, dwarf.AttrLowerBound); ok {
		b.Lower = n
	}
	if n, ok := c.bound(e, dwarf.AttrCount); ok {
		b.Count, b.Known = uint64(max(0, n)), true
	} else if n, ok := c.bound(e, dwarf.AttrUpperBound); ok {
		b.Count, b.Known = uint64(max(0, n-b.Lower+1)), true
	}
	return b
}

// bound returns an attribute that is a constant, an expression, or the variable that has the
// number.
func (c *context) bound(e *symbol.Entry, a dwarf.Attr) (n int64, ok bool) {
	if v, ok := e.Constant(a); ok {
		return int64(v), true
	}
	if r := e.Reference(a); !r.IsZero() {
		v, err := c.variable(r)
		if err != nil {
			return 0, false
		}
		n, err := v.Int()
		return n, err == nil
	}
	if x := c.scopes.expression(e, a, c.pc); x.err == nil && x.x != nil {
		v, err := c.value(e, x.x)
		return int64(v), err == nil
	}
	return 0, false
}
