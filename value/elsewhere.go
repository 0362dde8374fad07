package value

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// static returns the value of a static member of a class.
func (r *Reader) static(f *Field, of *Value) Value {
	v := Value{Type: f.Type, mem: of.mem, frame: of.frame}
	if f.entry.Has(dwarf.AttrConstValue) {
		return f.Type.constantOf(f.entry, of)
	}
	if name := linkageName(f.entry); name != "" {
		var m *target.Module
		if of.frame != nil {
			m = r.Modules.Find(of.frame.frame.AddressInBlock)
		}
		if list := r.Symbols.Named(r.Modules, m, name); len(list) > 0 {
			v.Place, v.Addr = InMemory, list[0]
			return v
		}
	}
	// Linkers do not know it: it is of a class in a namespace without a name, or the compiler has made it a constant.
	if at, ok := r.importsOf(f.entry.Ref).defined[f.entry.Ref]; ok && of.frame != nil {
		if k, err := r.Symbols.Entry(at); err == nil && (k.Has(dwarf.AttrLocation) || k.Has(dwarf.AttrConstValue)) {
			return of.frame.inner().locate(k, f.Type, nil)
		}
	}
	v.err = ErrOptimizedOut
	return v
}

// virtualBase returns a base that the object's table of virtual functions locates: the expression of the base's entry
// reads it there.
func (v *Value) virtualBase(f *Field) Value {
	n, ok := f.Type.size()
	if !ok || v.frame == nil {
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
	at := v.Addr
	if v.Place != InMemory {
		v.load()
		at = v.Type.r.Arch.Wrap(^uint64(maxRead - 1)) // where no object can be
		c.mem = &overlay{c.mem, at, v}
	}
	c.object = &at
	addr, err := c.value(f.entry, &start)
	if err != nil {
		return Value{Type: f.Type, err: fmt.Errorf("the place of a virtual base: %v", err)} // GDB has an invalid address, also if the pointer is lost
	}
	if v.Place != InMemory {
		if size := uint64(len(v.bytes)); addr-at > size || n > size-(addr-at) { // v is a base itself, and this one is further away
			return Value{Type: f.Type, err: &MemoryError{addr}}
		}
		return v.part(f.Type, int64(addr-at), n)
	}
	return v.at(f.Type, addr)
}

// overlay is memory as if an object that is in none were at an address.
type overlay struct {
	target.Memory
	at uint64
	v  *Value
}

// ReadMemory implements [target.Memory].
func (o *overlay) ReadMemory(addr uint64, p []byte) (int, error) {
	lo, n := addr-o.at, uint64(len(p))
	size := uint64(len(o.v.bytes))
	if lo >= size {
		if err := readMemory(o.Memory, addr, p); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if n > size-lo {
		return 0, &MemoryError{addr}
	}
	if why, _ := o.v.missing(8*lo, 8*(lo+n)); why != nil {
		return 0, why
	}
	return copy(p, o.v.bytes[lo:]), nil
}
