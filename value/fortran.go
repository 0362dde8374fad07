package value

import "strings"

// fortran writes a value as GDB does in Fortran. It reports false if that is as in C.
func (w *writer) fortran(v *Value, t *Type) bool {
	switch t.Kind {
	case Bool:
		n, err := v.Uint()
		switch {
		case err != nil:
			return false
		case n == 0:
			w.put(".FALSE.")
		default:
			w.put(".TRUE.")
		}
	case Integer:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		w.integer(v, b)
	case Complex:
		b, err := v.Bytes()
		if err != nil {
			return false
		}
		half := len(b) / 2
		w.put("(" + t.floatText(b[:half]) + "," + t.floatText(b[half:]) + ")")
	case Struct:
		w.fortranStruct(v, t)
	case Array:
		return w.fortranArray(v, t)
	default:
		return false
	}
	return true
}

func (w *writer) fortranStruct(v *Value, t *Type) {
	if w.depth >= w.p.depth() {
		w.put("{...}")
		return
	}
	w.depth++
	w.put("( ")
	fields := t.Fields()
	for i := range fields {
		if i > 0 {
			w.put(", ")
		}
		w.put(fields[i].Name + " = ")
		m := v.Field(&fields[i])
		w.part(&m)
	}
	w.put(" )")
	w.depth--
}

// fortranArray writes an array: the first index varies fastest.
func (w *writer) fortranArray(v *Value, t *Type) bool {
	b, elem := t.Bounds(), t.Elem()
	if w.textual(elem) {
		size, ok := elem.size()
		if !b.Known || !ok || size != 1 {
			return false
		}
		return w.fortranText(v, b.Count)
	}
	if !b.Known {
		return false
	}
	if w.depth >= w.p.depth() {
		w.put("(...)")
		return true
	}
	w.depth++
	w.put("(")
	if elem.bare().Kind == Array && !w.textual(elem.bare().Elem()) { // lines
		limit := uint64(w.p.elements())
		for i := uint64(0); i < b.Count && !w.full; i++ {
			if i > 0 {
				w.put(" ")
			}
			if i >= limit {
				w.put("...")
				break
			}
			x := v.Index(i)
			w.part(&x)
		}
	} else {
		w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, w.part)
	}
	w.put(")")
	w.depth--
	return true
}

// fortranText writes characters in single quotes.
func (w *writer) fortranText(v *Value, n uint64) bool {
	if n == 0 {
		w.put("''")
		return true
	}
	v.load()
	b := v.bytes
	if b == nil || v.err != nil || len(v.gaps) > 0 {
		if v.Place != InMemory || v.err != nil {
			return false
		}
		b = make([]byte, min(n, maxRead))
		if v.readMemory(v.Addr, b) != nil {
			return false
		}
	}
	in := &writer{p: w.p, cost: w.cost}
	in.quoted(b[:min(uint64(len(b)), n)], in.classOf(v.Type.Strip().Elem()), false)
	w.put(strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `"`, `'`, `'`, `\'`).Replace(in.String()))
	return true
}
