package value

import "debug/dwarf"

// Member returns a member of an object by the names that lead to it, each a member of the one
// before: of the object itself, or of a class that it is derived from.
func (v *Value) Member(names ...string) (m Value, ok bool) {
	m = *v
	for _, name := range names {
		if m, ok = m.member(name, 0); !ok {
			return Value{}, false
		}
	}
	return m, true
}

func (v *Value) member(name string, depth int) (Value, bool) {
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
			if m, ok := base.member(name, depth+1); ok {
				return m, true
			}
		}
	}
	return Value{}, false
}

// maxBases bounds classes that are derived from each other.
const maxBases = 32

// Part returns what is at an offset of an object, in bytes, as a value of another type.
func (v *Value) Part(t *Type, offset int64) Value {
	n, ok := t.SizeOf()
	if !ok {
		return Unknowable(t, ErrUnavailable)
	}
	return v.part(t, offset, n)
}

// Unknowable returns a value of which nothing is known. The error says why.
func Unknowable(t *Type, why error) Value { return Value{Type: t, err: why} }

// Lost returns why nothing of a value is known. Unlike [Value.Err] it is nil if the value has parts
// that are at places of their own, be they all lost.
func (v *Value) Lost() error {
	v.load()
	return v.err
}

// Missing returns why something of a value is not known; nil if all is, or if its size is not
// known.
func (v *Value) Missing() error {
	if n, ok := v.size(); ok {
		why, _ := v.missing(0, 8*n)
		return why
	}
	return nil
}

// Number returns a number of one of C's own types, by GDB's name of it, such as "unsigned long".
func (r *Reader) Number(name string, n int64) Value { return r.basic(name).constant(n) }

// PointerTo returns a pointer to an object of a type at an address, in the memory that v is of.
func (v *Value) PointerTo(t *Type, addr uint64) Value {
	p := v.Type.r.pointerTo(t).constant(int64(v.Type.r.Arch.Wrap(addr)))
	p.mem, p.frame = v.mem, v.frame
	return p
}

// Unnamed returns a type without its name, so that it is written by what it is made of.
func (t *Type) Unnamed() *Type {
	n := *t
	n.Name, n.fullName = "", ""
	return &n
}

// Reader returns the Reader that a type belongs to.
func (t *Type) Reader() *Reader { return t.r }

// Argument returns the i-th argument of the template, or generic type, that a type is made of; nil
// if it has no such one, or if that is a number.
func (t *Type) Argument(i int) *Type {
	if list := t.TemplateArguments(); i < len(list) && list[i].Value == nil {
		return list[i].Type
	}
	return nil
}

// sizeOrZero returns the size of a type in bytes; 0 if it is not known.
func (t *Type) sizeOrZero() uint64 {
	n, _ := t.SizeOf()
	return n
}

// Alignment returns the alignment of objects of a type in bytes: of members, or (preferred) of
// variables, which i386 aligns more.
func (t *Type) Alignment(preferred bool) uint64 { return t.alignmentAt(preferred, 0) }

func (t *Type) alignmentAt(preferred bool, depth int) uint64 {
	if depth > maxBases {
		return 1
	}
	if t.entry != nil {
		if n, ok := t.entry.Constant(dwarf.AttrAlignment); ok && n > 0 && n <= 1<<28 && n&(n-1) == 0 {
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
			if a, ok := f.entry.Constant(dwarf.AttrAlignment); ok && a > n && a <= 1<<28 && a&(a-1) == 0 {
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
