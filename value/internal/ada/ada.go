// Package ada writes values as GDB does in Ada.
package ada

import (
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// Write writes a value as GDB does in Ada. It reports false if that is as in C.
func Write(w *value.Writer, v *value.Value) bool {
	t := v.Type.Strip()
	switch t.Kind {
	case value.Integer, value.Subrange:
		b, err := v.Bytes()
		if err != nil || t.Kind == value.Integer && t.IsFixedPoint() {
			return false
		}
		w.Integer(v, b)
	case value.Struct:
		if !w.Enter() {
			w.Put("{...}")
			return true
		}
		w.Put("(")
		first := true
		members(w, v, &first, 0)
		w.Put(")")
		w.Leave()
	case value.Array:
		b := t.Bounds()
		if t.Elem().IsCharacter() || !b.Known {
			return false
		}
		if !w.Enter() {
			w.Put("(...)")
			return true
		}
		w.Put("(" + lowerBound(t, b.Lower))
		w.Elements(b.Count, v.Index)
		w.Put(")")
		w.Leave()
	default:
		return false
	}
	return true
}

// members writes the members of a record: first the members of the record that it extends, last its
// variant's.
func members(w *value.Writer, v *value.Value, first *bool, depth int) {
	t := v.Type.Strip()
	write := func(f *value.Field) {
		m := v.Field(f)
		switch {
		case f.Name == "_tag":
			return
		case f.Name == "_parent" && m.Type.Strip().Kind == value.Struct && depth < maxParents:
			members(w, &m, first, depth+1)
			return
		}
		if !*first {
			w.Put(", ")
		}
		*first = false
		w.Put(f.Name + " => ")
		w.Part(&m)
	}
	fields := t.Fields()
	for i := range fields {
		write(&fields[i])
	}
	more, known := v.VariantFields()
	if !known {
		w.Put(", <variant not known>") // the compiler has left out what tells them apart
	}
	for i := range more {
		write(&more[i])
	}
}

// lowerBound returns what is before the first element of an array that does not begin at the usual
// index.
func lowerBound(t *value.Type, low int64) string {
	if of := t.IndexType().Strip(); of.Kind == value.Enum {
		for i, x := range of.Enumerators() {
			if x.Value == low && i > 0 {
				return x.Name + " => "
			}
		}
		return ""
	}
	if low == 1 {
		return ""
	}
	return strconv.FormatInt(low, 10) + " => "
}

// maxParents bounds records that extend each other.
const maxParents = 32
