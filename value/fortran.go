package value

import "strings"

// fortran writes a value as GDB does in Fortran. It reports false if that is as in C.
func (w *Writer) fortran(v *Value, t *Type) bool {
	switch t.Kind {
	case Bool:
		n, err := v.Uint()
		switch {
		case err != nil:
			return false
		case n == 0:
			w.Put(".FALSE.")
		default:
			w.Put(".TRUE.")
		}
	case Integer:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		w.Integer(v, b)
	case Complex:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		half := len(b) / 2
		w.Put("(" + t.floatText(b[:half]) + "," + t.floatText(b[half:]) + ")")
	case Struct:
		w.fortranStruct(v, t)
	case Array:
		return w.fortranArray(v, t)
	default:
		return false
	}
	return true
}

func (w *Writer) fortranStruct(v *Value, t *Type) {
	if w.depth >= w.p.depth() {
		w.Put("{...}")
		return
	}
	w.depth++
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
	w.depth--
}

// fortranArray writes an array: the first index varies fastest.
func (w *Writer) fortranArray(v *Value, t *Type) bool {
	b, elem := t.Bounds(), t.Elem()
	if w.textual(elem) {
		size, ok := elem.SizeOf()
		if !b.Known || !ok || size != 1 {
			return false
		}
		return w.fortranText(v, b.Count)
	}
	if !b.Known {
		return false
	}
	if w.depth >= w.p.depth() {
		w.Put("(...)")
		return true
	}
	w.depth++
	w.Put("(")
	if elem.bare().Kind == Array && !w.textual(elem.bare().Elem()) { // lines
		limit := uint64(w.p.elements())
		for i := uint64(0); i < b.Count && !w.full; i++ {
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
		w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, w.Part)
	}
	w.Put(")")
	w.depth--
	return true
}

// fortranText writes characters in single quotes.
func (w *Writer) fortranText(v *Value, n uint64) bool {
	if n == 0 {
		w.Put("''")
		return true
	}
	v.load()
	b := v.bytes
	if b == nil || v.err != nil || len(v.gaps) > 0 {
		if v.Place != InMemory || v.err != nil {
			return false
		}
		b = make([]byte, min(n, maxRead))
		if v.ReadMemory(v.Addr, b) != nil {
			return false
		}
	}
	in := &Writer{p: w.p, cost: w.cost}
	in.quoted(b[:min(uint64(len(b)), n)], in.classOf(v.Type.Strip().Elem()), false)
	w.Put(strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `"`, `'`, `'`, `\'`).Replace(in.String()))
	return true
}
