package value

import (
	"debug/dwarf"
	"errors"

	"github.com/sfwalk/sfwalk/target"
)

// static returns the value of a static member of a class.
func (r *Reader) static(f *Field, of *Value) Value {
	v := Value{Type: f.Type, mem: of.mem, frame: of.frame}
	if n, ok := f.entry.Constant(dwarf.AttrConstValue); ok {
		c := f.Type.constant(int64(n))
		c.mem, c.frame = v.mem, v.frame
		return c
	}
	name := linkageName(f.entry)
	if name == "" { // of a class in a namespace without a name
		if at, ok := r.importsOf(f.entry.Ref).defined[f.entry.Ref]; ok && of.frame != nil {
			if k, err := r.Symbols.Entry(at); err == nil && k.Has(dwarf.AttrLocation) {
				return of.frame.inner().locate(k, f.Type, nil)
			}
		}
		v.err = ErrOptimizedOut
		return v
	}
	var m *target.Module
	if of.frame != nil {
		m = r.Modules.Find(of.frame.frame.AddressInBlock)
	}
	if list := r.Symbols.Named(r.Modules, m, name); len(list) > 0 {
		v.Place, v.Addr = InMemory, list[0]
		return v
	}
	v.err = ErrOptimizedOut
	return v
}

// virtualBase returns a base that the object's table of virtual functions locates: the expression of the base's entry
// reads it there.
func (v *Value) virtualBase(f *Field) Value {
	if _, ok := f.Type.size(); !ok || v.Place != InMemory || v.frame == nil {
		return Value{Type: f.Type, err: ErrUnavailable}
	}
	x, err := f.entry.Expression(dwarf.AttrDataMemberLoc, v.frame.pc)
	if err != nil || x == nil {
		return Value{Type: f.Type, err: errors.Join(err, ErrUnavailable)}
	}
	// The expression works on the address of the object.
	start := *x
	start.Code = append([]byte{0x97}, x.Code...) // DW_OP_push_object_address
	c := v.frame.inner()
	c.mem = v.mem
	c.object = &v.Addr
	addr, err := c.value(f.entry, &start)
	if err != nil {
		return Value{Type: f.Type, err: err}
	}
	return v.at(f.Type, addr)
}
