package value

import (
	"debug/dwarf"
	"errors"
	"slices"

	"github.com/sfwalk/sfwalk/symbol"
)

var (
	errNotAllocated  = errors.New("not allocated")
	errNotAssociated = errors.New("not associated")
)

// hasDescriptor reports whether an object of the type is a descriptor, which tells where the
// elements of an array are, and how many.
func (t *Type) hasDescriptor() bool {
	return t.Kind == Array && t.entry != nil && !t.described && t.entry.Has(dwarf.AttrDataLocation)
}

// describe makes a descriptor the array that it describes. Other values stay as they are.
func (v *Value) describe() {
	t := v.Type.bare()
	if !t.hasDescriptor() || v.Place != InMemory || v.frame == nil || v.err != nil || v.frame.nested >= maxNested {
		return
	}
	c := v.frame.inner()
	c.mem = v.mem
	at := v.Addr
	c.object = &at
	for a, err := range map[dwarf.Attr]error{dwarf.AttrAllocated: errNotAllocated, dwarf.AttrAssociated: errNotAssociated} {
		if n, ok := c.bound(t.entry, a); ok && n == 0 {
			v.err = err
			return
		}
	}
	data, ok := c.bound(t.entry, dwarf.AttrDataLocation)
	if !ok {
		v.err = ErrUnavailable
		return
	}
	v.Type, v.Addr, v.read, v.bytes = c.describedType(t), v.Type.r.Arch.Wrap(uint64(data)), false, nil
}

// describedType returns an array with the bounds and strides that its descriptor, c.object, has.
func (c *context) describedType(t *Type) *Type {
	out := *t
	out.described, out.Size = true, 0
	if t.dimension != nil {
		b := c.bounds(t.dimension, *t.bounds)
		if n, ok := c.bound(t.dimension, dwarf.AttrStride); ok && n != 0 {
			b.Stride = uint64(n)
		}
		out.bounds = &b
	}
	if e := t.Elem(); e.Kind == Array && e.entry != nil && e.entry.Ref == t.entry.Ref { // the next dimension
		out.elem, out.elemRead = c.describedType(e), true
	}
	return &out
}

// columnMajor turns the dimensions of an array around whose first index varies fastest.
func columnMajor(e *symbol.Entry, dims []*symbol.Entry) []*symbol.Entry {
	if n, ok := e.Constant(dwarf.AttrOrdering); ok && n == 1 {
		slices.Reverse(dims)
	}
	return dims
}
