package value

import (
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/symbol"
)

// structure writes a struct or union: {a = 1, b = 2}.
func (w *writer) structure(v *Value, t *Type) {
	if w.depth >= w.p.depth() {
		w.put("{...}")
		return
	}
	w.depth++
	w.structs++
	w.members(v, t)
	w.structs--
	w.depth--
}

func (w *writer) members(v *Value, t *Type) {
	w.put("{")
	fields := t.Fields()
	first := true
	sep := func() {
		if !first {
			w.put(", ")
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
		w.put("<" + f.Type.Strip().FullName() + "> = ")
		base := v.Field(f)
		switch {
		case base.err != nil && !isGone(base.err):
			w.put("<invalid address>")
		case base.err == nil && f.Type.Strip().Declared: // as for GDB, unlike a member of such a type
			w.put("{<No data fields>}")
		default:
			w.base = &base
			w.part(&base)
		}
	}
	if members == 0 {
		if first {
			w.put("<No data fields>")
		} else {
			w.put(", <No data fields>")
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
			w.put("static ")
		}
		w.put(f.Name)
		if f.Name != "" {
			w.put(" = ")
		}
		*m = v.Field(f)
		if f.Static && w.twice(m) {
			w.put("<same as static member of an already seen type>")
			continue
		}
		if f.Name == "" { // as deep as the struct that it is in
			w.depth--
			w.part(m)
			w.depth++
			continue
		}
		w.part(m)
		if f.Static && m.Place == InMemory && !m.Type.scalar() {
			w.named = w.named[:len(w.named)-1]
		}
	}
	w.put("}")
}

// again reports whether a virtual base of an object has been written: it is there once.
func (w *writer) again(t *Type) bool {
	if t.entry == nil {
		return false
	}
	if slices.Contains(w.virtual, t.entry.Ref) {
		return true
	}
	w.virtual = append(w.virtual, t.entry.Ref)
	return false
}

// twice reports whether a static member is being written already: a class may have a static member of its own type.
func (w *writer) twice(m *Value) bool {
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
