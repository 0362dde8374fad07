package value

import (
	"debug/dwarf"
)

// maxBases bounds classes that are derived from each other.
const maxBases = 32

// member returns a member of an object by the names that lead to it: of itself, or of a class that it is derived from.
func (v *Value) member(names ...string) (m Value, ok bool) {
	m = *v
	for _, name := range names {
		if m, ok = m.oneMember(name, 0); !ok {
			return m, false
		}
	}
	return m, m.Err() == nil
}

func (v *Value) oneMember(name string, depth int) (Value, bool) {
	t := v.Type.Strip()
	if depth > maxBases || t.Kind != Struct && t.Kind != Union {
		return Value{}, false
	}
	fields := t.Fields()
	for i := range fields {
		if f := &fields[i]; f.Name == name && !f.Base {
			return v.Field(f), true
		}
	}
	for i := range fields {
		if f := &fields[i]; f.Base && !f.Virtual || f.Name == "" && !f.Static {
			base := v.Field(f)
			if m, ok := base.oneMember(name, depth+1); ok {
				return m, true
			}
		}
	}
	return Value{}, false
}

// base returns the i-th class that the object is derived from.
func (v *Value) base(i int) (Value, bool) {
	for _, f := range v.Type.Strip().Fields() {
		if f.Base && !f.Virtual {
			if i == 0 {
				return v.Field(&f), true
			}
			i--
		}
	}
	return Value{}, false
}

// pointerTo returns the pointer that a member is, and what it points to.
func (o *object) pointerTo(names ...string) (addr uint64, elem *Type, ok bool) {
	m, ok := o.v.member(names...)
	if !ok {
		return 0, nil, false
	}
	t := m.Type.Strip()
	addr, err := m.Uint()
	if t.Kind != Pointer || err != nil {
		return 0, nil, false
	}
	return addr, t.Elem(), true
}

// number returns the number that a member is.
func (o *object) number(names ...string) (int64, bool) {
	m, ok := o.v.member(names...)
	if !ok {
		return 0, false
	}
	n, err := m.Int()
	return n, err == nil
}

// argument returns an argument of the template that the object's type is made of; nil if there is none.
func (t *Type) argument(i int) *Type {
	if list := t.TemplateArguments(); i < len(list) && list[i].Value == nil {
		return list[i].Type
	}
	return nil
}

// word reads a pointer from memory.
func (o *object) word(addr uint64) (uint64, error) {
	var b [8]byte
	n := o.t.r.Arch.PtrSize
	addr = o.t.r.Arch.Wrap(addr)
	if err := o.v.ReadMemory(addr, b[:n]); err != nil {
		return 0, err
	}
	return number(b[:n], o.t.ByteOrder() == bigEndian), nil
}

func (o *object) ptrSize() uint64 { return uint64(o.t.r.Arch.PtrSize) }

// at returns the value of a type at an address.
func (o *object) at(t *Type, addr uint64) Value { return o.v.At(t, addr) }

const attrAlignment dwarf.Attr = 0x88

// alignment returns the alignment of objects of a type in bytes: of members, or (preferred) of variables, which
// i386 aligns more.
func (t *Type) alignment(preferred bool) uint64 { return t.alignmentAt(preferred, 0) }

func (t *Type) alignmentAt(preferred bool, depth int) uint64 {
	if depth > maxBases {
		return 1
	}
	if t.entry != nil {
		if n, ok := t.entry.Constant(attrAlignment); ok && n > 0 && n <= 1<<28 && n&(n-1) == 0 {
			return n
		}
	}
	switch t.Kind {
	case Typedef, Const, Volatile, Restrict, Atomic, Subrange:
		return t.Elem().alignmentAt(preferred, depth+1)
	case Array:
		return t.Elem().alignmentAt(preferred, depth+1)
	case Struct, Union:
		if d := t.defined(); d != t {
			return d.alignmentAt(preferred, depth+1)
		}
		most := uint64(1)
		for _, f := range t.Fields() {
			if f.Static {
				continue
			}
			n := f.Type.alignmentAt(false, depth+1)
			if f.Virtual {
				n = uint64(t.r.Arch.PtrSize)
			}
			if a, ok := f.entry.Constant(attrAlignment); ok && a > n && a <= 1<<28 && a&(a-1) == 0 {
				n = a
			}
			if f.Offset%int64(n) != 0 { // packed
				n = 1
			}
			most = max(most, n)
		}
		return most
	case Complex:
		return t.scalarAlignment(t.Size/2, preferred)
	}
	return t.scalarAlignment(t.Size, preferred)
}

func (t *Type) scalarAlignment(size uint64, preferred bool) uint64 {
	most := t.r.Arch.MaxAlign
	if preferred && size == 8 && t.r.Arch.WideVariables {
		most = size
	}
	n := uint64(1)
	for n < size && n < most {
		n *= 2
	}
	return n
}

func alignUp(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }
