package value

import (
	"debug/dwarf"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// static returns the value of a static member of a class.
func (r *Reader) static(f *Field, of *Value) Value {
	v := Value{Type: f.Type, mem: of.mem, frame: of.frame}
	if f.entry.Has(dwarf.AttrConstValue) {
		return f.Type.constantOf(f.entry, of)
	}
	var address []uint64
	if name := linkageName(f.entry); name != "" {
		var m *target.Module
		if of.frame != nil {
			m = r.Modules.Find(of.frame.frame.AddressInBlock)
		}
		address = r.Symbols.Named(r.Modules, m, name)
	}
	if len(address) == 0 || f.Type.unbounded() { // the length of an array may be in its definition alone
		if k := r.staticDefinition(f, of); k != nil {
			v.Type = r.typeOf(r.typed(k))
			return of.frame.inner().locate(k, v.Type, nil)
		}
	}
	if len(address) > 0 {
		v.Place, v.Addr = InMemory, address[0]
		return v
	}
	v.err = ErrOptimizedOut
	return v
}

// staticDefinition returns the entry that defines a static member, nil if none tells where it is.
// Linkers know no variable of a thread, none of a namespace without a name, and after link-time
// optimization few others; until DWARF 5, only the definition has a linkage name.
func (r *Reader) staticDefinition(f *Field, of *Value) *symbol.Entry {
	if of.frame == nil {
		return nil
	}
	if list := of.frame.scopes.list; len(list) > 0 && list[0].File() != f.entry.File() {
		return nil // the frame cannot tell where another module's variables are
	}
	located := func(at symbol.Ref) *symbol.Entry {
		k, err := r.Symbols.Entry(at)
		if err != nil || !k.Has(dwarf.AttrLocation) && !k.Has(dwarf.AttrConstValue) {
			return nil
		}
		return k
	}
	if at, ok := r.importsOf(f.entry.Ref).defined[f.entry.Ref]; ok {
		if k := located(at); k != nil {
			return k
		}
	}
	class := of.Type.Strip().FullName()
	if class == "" {
		return nil
	}
	for _, h := range inScope(r.find(findKey{of: f.entry.File(), name: f.Name}), class+"::", isValueTag) {
		if k := located(h.Ref); k != nil {
			return k
		}
	}
	return nil
}

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
