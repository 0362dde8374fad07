package value

import (
	"debug/dwarf"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/target"
)

// virtualBase returns a base that the object's table of virtual functions locates: the expression
// of the base's entry reads it there.
func (v *Value) virtualBase(f *Field) Value {
	n, ok := f.Type.SizeOf()
	if !ok || v.frame == nil {
		return Value{Type: f.Type, err: ErrUnavailable}
	}
	x, err := f.entry.Expression(dwarf.AttrDataMemberLoc, v.frame.pc)
	if err != nil || x == nil {
		return Value{Type: f.Type, err: errors.Join(err, ErrUnavailable)}
	}
	// The expression works on the address of the object.
	start := *x
	start.Code = append([]byte{dwarfdata.OpPushObject}, x.Code...)
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
	return v.At(f.Type, addr)
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
