package rust

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// place is where a part of an object is.
type place struct {
	offset uint64
	typ    *value.Type
}

// Bounds of the search for a part of a type: tokio's own types have some dozens of parts.
const (
	mostDepth = 24
	mostParts = 4096
)

// within finds the first part of a type that is of a type with a name, of any generic arguments:
// the type itself, or a member of a member, of whatever variant. What is behind pointers is no
// part. Names of wrapping types change with each release, the wrapped ones stay.
func within(t *value.Type, name string) (p place, ok bool) {
	return search(t, func(t *value.Type) bool { return plain(t.FullName()) == name })
}

// search finds the first part of a type that is wanted.
func search(t *value.Type, want func(t *value.Type) bool) (p place, ok bool) {
	parts := mostParts
	return searchIn(t, want, 0, &parts)
}

func searchIn(t *value.Type, want func(t *value.Type) bool, depth int, parts *int) (p place, ok bool) {
	t = t.Strip()
	if *parts--; *parts < 0 || depth > mostDepth {
		return p, false
	}
	if want(t) {
		return place{0, t}, true
	}
	if t.Kind != value.Struct && t.Kind != value.Union {
		return p, false
	}
	in := func(list []value.Field) bool {
		for i := range list {
			f := &list[i]
			if f.Static {
				continue
			}
			if p, ok = searchIn(f.Type, want, depth+1, parts); ok {
				p.offset += uint64(f.Offset)
				return true
			}
		}
		return false
	}
	if in(t.Fields()) {
		return p, true
	}
	for _, fields := range t.Variants() {
		if in(fields) {
			return p, true
		}
	}
	return place{}, false
}

// member finds a member of a struct by its name, or of a struct in it that is the first with such a
// member.
func member(t *value.Type, name string) (p place, ok bool) {
	has := func(t *value.Type) (place, bool) {
		fields := t.Fields()
		for i := range fields {
			if f := &fields[i]; f.Name == name && !f.Static {
				return place{uint64(f.Offset), f.Type.Strip()}, true
			}
		}
		return place{}, false
	}
	p, ok = search(t, func(t *value.Type) bool { _, ok := has(t); return ok })
	if !ok {
		return p, false
	}
	m, _ := has(p.typ)
	return place{p.offset + m.offset, m.typ}, true
}

// pointee finds the first pointer in a type, such as the one in an Arc, and what it points to.
func pointee(t *value.Type) (p place, ok bool) {
	p, ok = search(t, func(t *value.Type) bool { return t.Kind == value.Pointer })
	if !ok {
		return p, false
	}
	p.typ = p.typ.Elem().Strip()
	return p, true
}

// plain returns a name without generic arguments, also of the types around it:
// "a::B<u8>::c<T>" is "a::B::c".
func plain(name string) string {
	if strings.IndexByte(name, '<') < 0 {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '<':
			depth++
		case c == '>' && (i == 0 || name[i-1] != '-'):
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
