package fromelf

import (
	"bytes"
	"debug/dwarf"
	"strings"
	"sync"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Kinds of names, as they are noted: the first byte.
const (
	plainName   = 'p' // a name as it is shown
	mangledName = 'm' // a mangled name of C++
)

// omitted is the name of a function that has none in the DWARF.
const omitted = "<name omitted>"

// table gives strings numbers, from 0 up, in the order in which they come.
type table struct {
	mu    sync.Mutex
	index map[string]uint32
	list  []string
	left  int64  // bytes that it may still keep: names may be put together of the same long parts
	over  string // stands for names that are too many
}

// newTable returns a table that keeps at most about as many bytes.
func newTable(most int64, over string) *table {
	return &table{index: make(map[string]uint32), left: most, over: over}
}

// number returns the number of a string.
func (t *table) number(b []byte) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.index[string(b)]; ok {
		return n
	}
	s := string(b)
	if t.left -= int64(len(b)); t.left < 0 {
		s = t.over
		if n, ok := t.index[s]; ok {
			return n
		}
	}
	n := uint32(len(t.list))
	t.list = append(t.list, s)
	t.index[s] = n
	return n
}

// naming finds the name of an entry: the entries that say it may be in other units, and in other
// files.
type naming struct {
	*reader
	s     *sections
	u     *unit
	data  []byte
	table *dwarfdata.Abbrevs
	f     *foreign // nil for the unit that the reader reads
}

// own returns the naming of the unit that the reader reads.
func (r *reader) own() naming { return naming{r, r.s, r.u, r.data, r.table, nil} }

// in returns the naming of the unit of s around an offset.
func (n naming) in(s *sections, off uint64) (naming, bool) {
	if s == nil {
		return n, false
	}
	if s == n.s && off >= n.u.Entry && off < n.u.End {
		return n, true
	}
	if s == n.reader.s && off >= n.reader.u.Entry && off < n.reader.u.End {
		return n.own(), true
	}
	u := s.unitAt(off)
	if u == nil {
		return n, false
	}
	f := s.foreignUnit(u)
	if f == nil {
		return n, false
	}
	return naming{n.reader, s, u, f.data, f.table, f}, true
}

// names are the attributes that say an entry's name.
type names struct {
	name, linkage, specification, origin dwarfdata.Value
	declaration                          bool
}

// entry reads the attributes of the entry at an offset.
func (n naming) entry(off uint64) (e names, ok bool) {
	c := n.s.at(n.u, n.data, off)
	a := n.table.Find(c.ULEB128())
	if a == nil {
		return e, false
	}
	for i := range a.Attrs {
		x := &a.Attrs[i]
		e.set(x.Attr, c.Value(x.Form, x.Implicit))
	}
	return e, !c.Bad
}

// set notes an attribute.
func (e *names) set(attr dwarf.Attr, v dwarfdata.Value) {
	switch attr {
	case dwarf.AttrName:
		e.name = v
	case dwarf.AttrLinkageName, dwarfdata.AttrMIPSLinkageName:
		e.linkage = v
	case dwarf.AttrSpecification:
		e.specification = v
	case dwarf.AttrAbstractOrigin:
		e.origin = v
	case dwarf.AttrDeclaration:
		e.declaration = v.N != 0
	}
}

// referred returns the entry that v refers to, and the naming of its unit.
func (n naming) referred(v dwarfdata.Value) (in naming, e names, ok bool) {
	s := n.s
	switch v.Class {
	case dwarfdata.ClassReference:
	case dwarfdata.ClassSupReference:
		s = s.sup
	default:
		return n, e, false
	}
	if in, ok = n.in(s, v.N); !ok {
		return n, e, false
	}
	e, ok = in.entry(v.N)
	return in, e, ok
}

// number returns the number of the name of the entry e at an offset. It is the name that a linkage
// name has if there is one: only that has the types of arguments. Else it is put together of
// scopes.
func (n naming) number(e *names, off uint64) uint32 {
	n.name = append(n.name[:0], plainName)
	if !n.append(e, off, 0) {
		n.name = append(append(n.name[:0], plainName), omitted...)
	}
	return n.d.names.number(n.name)
}

// append appends the name of e to n.name.
func (n naming) append(e *names, off uint64, depth int) bool {
	if depth > 8 {
		return false
	}
	if n.appendLinkage(e) {
		return true
	}
	at, in, unqualified := off, n, n.s.text(n.u, n.data, e.name)
	spec, declared, specified := naming{}, names{}, false
	if e.specification.Class != dwarfdata.ClassNone {
		if spec, declared, specified = n.referred(e.specification); specified {
			if spec.appendLinkage(&declared) {
				return true
			}
			at, in = e.specification.N, spec
			if len(unqualified) == 0 {
				unqualified = spec.s.text(spec.u, spec.data, declared.name)
			}
		}
	}
	if len(unqualified) == 0 && !specified {
		unqualified = n.s.text(n.u, n.data, e.linkage)
	}
	if len(unqualified) > 0 {
		in.appendScope(at, depth)
		n.name = append(n.name, unqualified[:min(len(unqualified), maxName)]...)
		return true
	}
	for _, v := range []dwarfdata.Value{e.origin, e.specification} {
		if in, origin, ok := n.referred(v); ok && in.append(&origin, v.N, depth+1) {
			return true
		}
	}
	return false
}

// appendLinkage appends the linkage name of e, if it says more than a name.
func (n naming) appendLinkage(e *names) bool {
	if e.linkage.Class == dwarfdata.ClassNone {
		return false
	}
	b := n.s.text(n.u, n.data, e.linkage)
	if len(b) > maxName {
		return false
	}
	switch n.u.language {
	case langRust, langSwift: // dump_syms has no demanglers of theirs
		n.name = append(n.name, b...)
		return len(b) > 0
	case langJava, langAssembler:
		return false
	}
	if len(b) <= 2 || !bytes.HasPrefix(b, []byte("_Z")) {
		return false
	}
	n.name = append(append(n.name[:0], mangledName), b...)
	return true
}

// appendScope appends the names of the scopes around the entry at an offset.
func (n naming) appendScope(off uint64, depth int) {
	x := &n.reader.scopes
	if n.f != nil {
		x = n.scopesOf()
	}
	n.appendScopes(x, x.around(off), depth)
}

func (n naming) appendScopes(x *scopes, i int32, depth int) {
	if i < 0 || depth > maxNested {
		return
	}
	sc := &x.list[i]
	if sc.function {
		before := len(n.name)
		e, ok := n.entry(sc.start)
		if !ok || depth > 8 || !n.append(&e, sc.start, depth+1) {
			return
		}
		if n.name[0] == mangledName {
			n.name = append(n.name[:0], plainName)
			n.name = append(n.name, n.d.demangle(string(n.name[1:]))...)
		}
		if len(n.name) > before {
			n.name = append(n.name, separator(n.u.language)...)
		}
		return
	}
	text := n.s.text(n.u, n.data, sc.name)
	if len(text) == 0 { // an anonymous namespace hides those around it, as in dump_syms
		return
	}
	n.appendScopes(x, sc.parent, depth+1)
	if len(n.name)+len(text) < maxName {
		n.name = append(n.name, text...)
		n.name = append(n.name, separator(n.u.language)...)
	}
}

// scopesOf returns the scopes of another unit than the reader's.
func (n naming) scopesOf() *scopes {
	n.s.mu.Lock()
	x := n.f.scopes
	n.s.mu.Unlock()
	if x != nil {
		return x
	}
	other := reader{d: n.d, s: n.s, u: n.u, data: n.data, table: n.table, namesOnly: true}
	other.walk()
	x = &scopes{list: other.scopes.list}
	n.s.mu.Lock()
	n.f.scopes = x
	n.s.mu.Unlock()
	return x
}

// readable returns a noted name as it is shown.
func (d *Dump) readable(name string) string {
	if name == "" {
		return ""
	}
	text := name[1:]
	if name[0] == mangledName {
		text = d.demangle(text)
	}
	if strings.ContainsAny(text, "\r\n") {
		text = strings.NewReplacer("\r", "?", "\n", "?").Replace(text)
	}
	return text
}
