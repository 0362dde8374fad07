// Package fortran writes values as GDB does in Fortran.
package fortran

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Write writes a value as GDB does in Fortran. It reports false if that is as in C.
func Write(w *value.Writer, v *value.Value) bool {
	t := v.Type.Strip()
	switch t.Kind {
	case value.Bool:
		n, err := v.Uint()
		switch {
		case err != nil:
			return false
		case n == 0:
			w.Put(".FALSE.")
		default:
			w.Put(".TRUE.")
		}
	case value.Integer:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		w.Integer(v, b)
	case value.Complex:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		half := len(b) / 2
		w.Put("(" + t.FloatText(b[:half]) + "," + t.FloatText(b[half:]) + ")")
	case value.Struct:
		structure(w, v, t)
	case value.Array:
		return array(w, v, t)
	default:
		return false
	}
	return true
}

func structure(w *value.Writer, v *value.Value, t *value.Type) {
	if !w.Enter() {
		w.Put("{...}")
		return
	}
	w.Put("( ")
	fields := t.Fields()
	for i := range fields {
		if i > 0 {
			w.Put(", ")
		}
		w.Put(fields[i].Name + " = ")
		m := v.Field(&fields[i])
		w.Part(&m)
	}
	w.Put(" )")
	w.Leave()
}

// array writes an array: the first index varies fastest.
func array(w *value.Writer, v *value.Value, t *value.Type) bool {
	b, elem := t.Bounds(), t.Elem()
	if elem.IsCharacter() {
		size, ok := elem.SizeOf()
		if !b.Known || !ok || size != 1 {
			return false
		}
		return text(w, v, b.Count)
	}
	if !b.Known {
		return false
	}
	if !w.Enter() {
		w.Put("(...)")
		return true
	}
	w.Put("(")
	if elem.Strip().Kind == value.Array && !elem.Strip().Elem().IsCharacter() { // lines
		limit := uint64(w.Limit())
		for i := uint64(0); i < b.Count && !w.Full(); i++ {
			if i > 0 {
				w.Put(" ")
			}
			if i >= limit {
				w.Put("...")
				break
			}
			x := v.Index(i)
			w.Part(&x)
		}
	} else {
		w.Elements(b.Count, v.Index)
	}
	w.Put(")")
	w.Leave()
	return true
}

// text writes characters in single quotes.
func text(w *value.Writer, v *value.Value, n uint64) bool {
	if n == 0 {
		w.Put("''")
		return true
	}
	b, err := v.Bytes()
	if err == value.ErrTooLarge && v.Place == value.InMemory {
		b = make([]byte, min(n, maxText))
		err = v.ReadMemory(v.Addr, b)
	}
	if err != nil {
		return false
	}
	quoted := w.Quote(b[:min(uint64(len(b)), n)], v.Type.Strip().Elem(), false)
	w.Put(strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `"`, `'`, `'`, `\'`).Replace(quoted))
	return true
}

// maxText bounds the characters that are read of one text.
const maxText = 1 << 16
