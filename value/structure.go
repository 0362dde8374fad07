package value

import (
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/symbol"
)

// structure writes a struct or union: {a = 1, b = 2}.
func (w *Writer) structure(v *Value, t *Type) {
	if w.depth >= w.p.depth() {
		w.Put("{...}")
		return
	}
	w.depth++
	w.structs++
	w.members(v, t)
	w.structs--
	w.depth--
}

func (w *Writer) members(v *Value, t *Type) {
	w.Put("{")
	fields := t.Fields()
	first := true
	sep := func() {
		if !first {
			w.Put(", ")
		}
		first = false
	}
	members := 0
	if w.base != v {
		defer func(outer []symbol.Ref) { w.virtual = outer }(w.virtual)
		w.virtual = nil
	}
	for i := range fields {
		f := &fields[i]
		if !f.Base {
			members++
			continue
		}
		if f.Virtual && w.again(f.Type.Strip()) {
			continue
		}
		sep()
		w.Put("<" + f.Type.Strip().FullName() + "> = ")
		base := v.Field(f)
		switch {
		case base.err != nil && !IsAbsent(base.err):
			w.Put("<invalid address>")
		case base.err == nil && f.Type.Strip().Declared: // as for GDB, unlike a member of such a type
			w.Put("{<No data fields>}")
		default:
			w.base = &base
			w.Part(&base)
		}
	}
	if members == 0 {
		if first {
			w.Put("<No data fields>")
		} else {
			w.Put(", <No data fields>")
		}
	}
	m := w.hold()
	defer w.drop()
	for i := range fields {
		f := &fields[i]
		if f.Base || w.full {
			continue
		}
		sep()
		if f.Static {
			w.Put("static ")
		}
		w.Put(f.Name)
		if f.Name != "" {
			w.Put(" = ")
		}
		*m = v.Field(f)
		if f.Static && w.twice(m) {
			w.Put("<same as static member of an already seen type>")
			continue
		}
		if f.Name == "" { // as deep as the struct that it is in
			w.depth--
			w.Part(m)
			w.depth++
			continue
		}
		w.Part(m)
		if f.Static && m.Place == InMemory && !m.Type.scalar() {
			w.named = w.named[:len(w.named)-1]
		}
	}
	w.Put("}")
}

// again reports whether a virtual base of an object has been written: it is there once.
func (w *Writer) again(t *Type) bool {
	if t.entry == nil {
		return false
	}
	if slices.Contains(w.virtual, t.entry.Ref) {
		return true
	}
	w.virtual = append(w.virtual, t.entry.Ref)
	return false
}

// twice reports whether a static member is being written already: a class may have a static member
// of its own type.
func (w *Writer) twice(m *Value) bool {
	if m.Place != InMemory || m.Type.scalar() {
		return false
	}
	key := strconv.FormatUint(m.Addr, 16)
	for _, n := range w.named {
		if n == key {
			return true
		}
	}
	w.named = append(w.named, key)
	return false
}
