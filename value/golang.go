package value

import (
	"debug/dwarf"
	"errors"
	"reflect"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// GoKind returns the kind that values of the type have in Go, also of a type of another language;
// and the type with this kind: t, or the type that t is another name of.
func (t *Type) GoKind() (reflect.Kind, *Type) {
	at := t
	for range maxNames {
		if at.entry != nil {
			if n, ok := at.entry.Constant(dwarfdata.AttrGoKind); ok && n > 0 && n <= uint64(reflect.UnsafePointer) {
				if reflect.Kind(n) == reflect.Pointer && at.Elem().Kind == Void {
					return reflect.UnsafePointer, at
				}
				return reflect.Kind(n), at
			}
		}
		if at.Kind != Typedef {
			break
		}
		at = at.Elem()
	}
	switch at = at.Strip(); at.Kind {
	case Bool:
		return reflect.Bool, at
	case Integer, Char:
		if at.Signed {
			return reflect.Int, at
		}
		return reflect.Uint, at
	case Float:
		return reflect.Float64, at
	case Complex:
		return reflect.Complex128, at
	case Array:
		return reflect.Array, at
	case Function:
		return reflect.Func, at
	case Struct:
		return reflect.Struct, at
	case Pointer:
		if at.Elem().Kind == Void {
			return reflect.UnsafePointer, at
		}
		return reflect.Pointer, at
	}
	return reflect.Invalid, at
}

// Word returns the i-th word of a value, as a number: a pointer, or a number of its size.
func (v *Value) Word(i int) (uint64, error) {
	size := v.Type.r.Arch.PtrSize
	p := v.part(v.Type, int64(i*size), uint64(size))
	return p.Uint()
}

// Inside returns what is in an interface of Go, and its type, which is nil if the interface is.
func (v *Value) Inside() (data Value, t *Type, err error) {
	word, err := v.Word(0)
	fields := v.Type.Strip().Fields()
	if err != nil || len(fields) < 2 {
		return data, nil, ErrUnavailable
	}
	size := uint64(v.Type.r.Arch.PtrSize)
	if word != 0 && fields[0].Name == "tab" { // an interface with methods: the second word of its table is the type
		b := make([]byte, size)
		if err := v.ReadMemory(word+size, b); err != nil {
			return data, nil, err
		}
		word = number(b, v.Type.ByteOrder() == bigEndian)
	}
	if word == 0 {
		return data, nil, nil
	}
	t, direct := v.goDynamic(word)
	if t == nil {
		return data, nil, errNoDynamic
	}
	if n, ok := t.SizeOf(); direct && ok && n <= size {
		return v.part(t, int64(size), n), t, nil
	}
	addr, err := v.Word(1)
	return v.At(t, addr), t, err
}

var errNoDynamic = errors.New("could not resolve interface type")

// GoMap returns the types of the keys and the values of a map of Go; nil if they are not known.
func (t *Type) GoMap() (key, elem *Type) {
	return t.part(dwarfdata.AttrGoKey), t.part(dwarfdata.AttrGoElem)
}

func (t *Type) part(a dwarf.Attr) *Type {
	if t.entry == nil || !t.entry.Has(a) {
		return nil
	}
	return t.r.typeAt(t.entry.Reference(a))
}

// Converted reports whether a pointer of Go comes from a conversion: it is written as an address.
func (v *Value) Converted() bool { return v.bare }
