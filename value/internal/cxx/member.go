package cxx

import (
	"github.com/sfwalk/sfwalk/value"
)

// Member returns a member of an object by the names that lead to it: of itself, or of a class that
// it is derived from. ok is false if there is none, or if it is not known.
func Member(v *value.Value, names ...string) (m value.Value, ok bool) {
	m = *v
	for _, name := range names {
		if m, ok = m.Member(name); !ok {
			return m, false
		}
	}
	return m, m.Err() == nil
}

// Base returns the part of an object that is of the i-th class that its own is derived from.
func Base(v *value.Value, i int) (value.Value, bool) {
	for _, f := range v.Type.Strip().Fields() {
		if f.Base && !f.Virtual {
			if i == 0 {
				return v.Field(&f), true
			}
			i--
		}
	}
	return value.Value{}, false
}

// First returns the first member of an object that has one of some names. If it is a
// __compressed_pair of libc++, as before LLVM 20, that is the first of the pair; since then both
// are members of the object.
func First(v *value.Value, names ...string) (value.Value, bool) {
	for _, name := range names {
		m, ok := v.Member(name)
		if !ok {
			continue
		}
		if template, _ := Template(m.Type.Strip().Name); template == "__compressed_pair" {
			first, ok := Base(&m, 0)
			if ok {
				m, ok = first.Member("__value_")
			}
			if !ok {
				return value.Value{}, false
			}
		}
		return m, m.Err() == nil
	}
	return value.Value{}, false
}

// FirstPointer is First of a pointer: where it points to, and to what.
func FirstPointer(v *value.Value, names ...string) (addr uint64, elem *value.Type, ok bool) {
	m, ok := First(v, names...)
	if !ok {
		return 0, nil, false
	}
	t := m.Type.Strip()
	addr, err := m.Uint()
	if t.Kind != value.Pointer || err != nil {
		return 0, nil, false
	}
	return addr, t.Elem(), true
}

// FirstNumber is First of a number.
func FirstNumber(v *value.Value, names ...string) (int64, bool) {
	m, ok := First(v, names...)
	if !ok {
		return 0, false
	}
	n, err := m.Int()
	return n, err == nil
}

// Size returns the size of a type in bytes; 0 if it is not known.
func Size(t *value.Type) uint64 {
	n, _ := t.SizeOf()
	return n
}

// AlignUp returns n rounded up to an alignment, which is a power of two.
func AlignUp(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }
