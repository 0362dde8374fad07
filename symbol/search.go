package symbol

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/target"
)

// Search looks for the entries of one name that are outside of functions and classes: in a unit, or
// in all units of a module. A variable that is defined there may have its name within a class, or
// in another unit. It reads the names of a unit's own entries, and skips what is within functions
// and classes.
type Search struct {
	Name string // without namespaces
	// Begins says that Name is the beginning of the names that are sought.
	Begins bool
	// Ends says that Name is the end of the names that are sought. Each name is read.
	Ends bool
	// Tag leaves entries of this tag; 0 leaves all.
	Tag dwarf.Tag
	// Most bounds the entries that are found; 0 is 256.
	Most int
	// File leaves only units of this source file, by its path or the end of that; "" leaves all.
	File string
	// Work is how many entries the search may still read. It bounds the time that a search in a
	// large file takes.
	Work *int

	texts map[*section]map[uint64]bool // where the name is in the sections that have strings
	list  []Hit
	done  map[*unit]bool
}

// Hit is an entry of the name that was sought.
type Hit struct {
	Ref
	Tag      dwarf.Tag
	Scope    string // the namespaces around it: "outer::inner::"; an enumerator has its type's
	Declared bool   // it only declares what another entry defines
	Of       Ref    // of an enumerator: its type
	Defined  Ref    // of a declared variable or function: the entry that defines it, if the unit has one
}

// maxHits bounds the entries of one name that a search finds.
const maxHits = 256

func (x *Search) most() int { return cmp.Or(x.Most, maxHits) }

// UnitOf returns the first entry of the unit that the entry at r is in.
func (s *Symbolizer) UnitOf(r Ref) (first Ref) {
	s.reading(r, func(d *debugInfo, u *unit) error {
		first = r
		first.off = u.Entry
		return nil
	})
	return first
}

// InUnit returns the entries of the name in the unit that the entry at r is in, and in those units
// that it imports.
func (x *Search) InUnit(s *Symbolizer, r Ref) (list []Hit, err error) {
	x.begin()
	err = s.reading(r, func(d *debugInfo, u *unit) error {
		x.begin()
		return x.unit(d, u, r, 0)
	})
	return x.list, err
}

// InModule returns the entries of the name in all units of a module, and in the supplementary file.
func (x *Search) InModule(s *Symbolizer, m *target.Module) (list []Hit, err error) {
	x.begin()
	mod := s.tables(m).elf
	if mod.image == nil {
		return nil, nil
	}
	if info := mod.dwarf(); info != nil {
		err = x.inFile(info)
	}
	return x.list, err
}

// InFileOf is InModule for the file that has the entry at r.
func (x *Search) InFileOf(r Ref) (list []Hit, err error) {
	if r.of == nil {
		return nil, nil
	}
	err = x.inFile(r.of)
	return x.list, err
}

func (x *Search) inFile(info *sharedInfo) (err error) {
	info.ask(func(d *debugInfo) {
		x.begin()
		if err = x.units(d, Ref{of: info}); err == nil && d.types != nil {
			err = x.units(d.types, Ref{of: info, part: inTypes})
		}
		if sup := d.supplement(); err == nil && sup != nil && x.File == "" {
			err = x.units(sup, Ref{of: info, part: inSupplement})
		}
	})
	return err
}

func (x *Search) begin() {
	x.list, x.done, x.texts = nil, map[*unit]bool{}, map[*section]map[uint64]bool{}
}

// units searches all units.
func (x *Search) units(d *debugInfo, r Ref) error {
	d.mu.Lock()
	d.readHeaders(d.info.len())
	units := slices.Clone(d.units)
	d.mu.Unlock()
	for _, u := range units {
		d.mu.Lock()
		h, err := d.header(u)
		d.mu.Unlock()
		if err != nil {
			return err
		}
		if h == nil || x.File != "" && !x.ofFile(d, u) {
			continue
		}
		r.off = u.Entry
		if h.splitName.Class != dwarfdata.ClassNone && d.skeleton == nil {
			d.open(u)
			if u.split != nil {
				split := r
				split.part, split.skeleton, split.off = inSplit, u.Entry, u.split.unit.Entry
				if err := x.unit(u.split.info, u.split.unit, split, 0); err != nil {
					return err
				}
			}
			continue
		}
		if err := x.unit(d, u, r, 0); err != nil {
			return err
		}
	}
	return nil
}

// ofFile reports whether a unit is of the source file that is sought.
func (x *Search) ofFile(d *debugInfo, u *unit) bool {
	name := d.text(u, u.head.name)
	return name == x.File || path.Base(name) == x.File || strings.HasSuffix(name, "/"+x.File)
}

// maxImports bounds the units that import each other.
const maxImports = 8

// unit searches a unit. Its entries have the part of r.
func (x *Search) unit(d *debugInfo, u *unit, r Ref, depth int) error {
	if x.done[u] || len(x.list) >= x.most() {
		return nil
	}
	x.done[u] = true
	d.mu.Lock()
	if h, _ := d.header(u); h == nil {
		u.head = &header{}
	}
	table, err := d.abbrevs(u)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	data, err := d.info.bytes(u.Entry, u.End)
	if err != nil {
		return err
	}
	w := searchWalk{Search: x, d: d, u: u, ref: r, table: table}
	w.c = dwarfdata.Cursor{Reader: dwarfdata.New(data, d.order), Unit: &u.Unit, Base: u.Entry}
	if err := w.walk(); err != nil {
		return err
	}
	for _, to := range w.imports {
		if depth >= maxImports {
			break
		}
		in, ref := d, r
		if to.Class == dwarfdata.ClassSupReference {
			if in = d.supplement(); in == nil {
				continue
			}
			ref.part = inSupplement
		}
		ref.off = to.N
		if other := in.unitAt(to.N); other != nil {
			if err := x.unit(in, other, ref, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// searchWalk is the walk over the entries of a unit.
type searchWalk struct {
	*Search
	d       *debugInfo
	u       *unit
	ref     Ref
	table   *abbrevs
	c       dwarfdata.Cursor
	imports []dwarfdata.Value
}

// searchLevel is a level of nesting.
type searchLevel struct {
	look  bool // for the name
	scope string
	of    Ref // the enumeration around the level
}

// walk goes over the entries. Where siblings are told, it skips the inside of functions, types and
// classes.
func (w *searchWalk) walk() error {
	c := &w.c
	levels := []searchLevel{{}} // around the unit's own entry
	for c.More() {
		off := c.Offset()
		code := c.ULEB128()
		if code == 0 && !c.Bad {
			if levels = levels[:len(levels)-1]; len(levels) <= 1 {
				return nil
			}
			continue
		}
		a := w.table.Find(code)
		if a == nil || c.Bad {
			return nil // what was found so far counts
		}
		if *w.Work--; *w.Work < 0 {
			return errTooMuch
		}
		at := &levels[len(levels)-1]
		inner := searchLevel{}
		if !at.look && len(levels) > 1 {
			if !a.Children {
				c.Skip(a)
				continue
			}
		}
		var name, sibling, to, declaration, abstract dwarfdata.Value
		declared, located := false, false
		for i := range a.Attrs {
			f := &a.Attrs[i]
			v := c.Value(f.Form, f.Implicit)
			switch f.Attr {
			case dwarf.AttrName:
				name = v
			case dwarf.AttrSibling:
				sibling = v
			case dwarf.AttrImport:
				to = v
			case dwarf.AttrSpecification:
				declaration = v
			case dwarf.AttrAbstractOrigin:
				abstract = v
			case dwarf.AttrLocation, dwarf.AttrConstValue:
				located = true
			case dwarf.AttrDeclaration:
				declared = v.N != 0
			}
		}
		if c.Bad {
			return nil
		}
		if len(levels) == 1 {
			inner.look = true
		} else if at.look {
			if a.Tag == dwarf.TagImportedUnit {
				w.imports = append(w.imports, to)
			} else if a.Tag != dwarf.TagNamespace && (w.Tag == 0 || w.Tag == a.Tag) && w.is(name) && len(w.list) < w.most() {
				hit := Hit{Ref: w.ref, Tag: a.Tag, Scope: at.scope, Declared: declared, Of: at.of}
				hit.off = off
				w.list = append(w.list, hit)
			}
			if a.Tag == dwarf.TagVariable && located && name.Class == dwarfdata.ClassNone && len(w.list) < w.most() {
				if d, u, named, ok := w.origin(cmp.Or(declaration, abstract)); ok {
					hit := Hit{Ref: w.ref, Tag: a.Tag, Scope: d.scopeAround(u, named)}
					hit.off = off
					w.list = append(w.list, hit)
				}
			}
			switch a.Tag {
			case dwarf.TagVariable, dwarf.TagSubprogram:
				if declaration.Class == dwarfdata.ClassReference {
					w.defined(declaration.N, off)
				}
			case dwarf.TagNamespace, dwarf.TagModule:
				text := w.d.text(w.u, name)
				if text == "" {
					text = "(anonymous namespace)"
				}
				inner = searchLevel{look: true, scope: at.scope + text + "::"}
			case dwarf.TagEnumerationType:
				inner = searchLevel{look: true, scope: at.scope, of: w.ref}
				inner.of.off = off
			}
		}
		switch {
		case !a.Children:
		case !inner.look && sibling.Class == dwarfdata.ClassReference && sibling.N > c.Offset() && sibling.N < w.u.End:
			c.Take(sibling.N - c.Offset())
		case len(levels) == maxDepth:
			return nil
		default:
			levels = append(levels, inner)
		}
	}
	return nil
}

// defined notes that the entry at off defines what the one at to declares.
func (w *searchWalk) defined(to, off uint64) {
	for i := range w.list {
		if h := &w.list[i]; h.off == to && h.of == w.ref.of && h.part == w.ref.part && h.skeleton == w.ref.skeleton {
			h.Defined = h.Ref
			h.Defined.off = off
		}
	}
}

// is reports whether a value is the name. It reads no string twice.
func (w *searchWalk) is(v dwarfdata.Value) bool {
	if w.Ends {
		return strings.HasSuffix(w.d.text(w.u, v), w.Name)
	}
	s, off := w.d.str, v.N
	switch v.Class {
	case dwarfdata.ClassText:
		text, ok := bytes.CutPrefix(w.c.Data[off-w.c.Base:], []byte(w.Name))
		return ok && len(text) > 0 && (text[0] == 0 || w.Begins)
	case dwarfdata.ClassStr:
	case dwarfdata.ClassSupStr:
		sup := w.d.supplement()
		if sup == nil {
			return false
		}
		s = sup.str
	case dwarfdata.ClassLineStr:
		s = w.d.lineStr
	case dwarfdata.ClassStrIndex:
		size := uint64(w.u.OffsetSize)
		at := w.u.head.strOffsets + off*size
		b, err := w.d.strOffsets.bytes(at, at+size)
		if err != nil {
			return false
		}
		c := dwarfdata.New(b, w.d.order)
		off = c.Uint(int(size))
	default:
		return false
	}
	if s == nil {
		return false
	}
	places, ok := w.texts[s]
	if !ok {
		places = s.places(w.Name, w.Begins)
		w.texts[s] = places
	}
	return places[off]
}

// places returns the offsets of a section of strings at which a string is, or begins: also where it
// is the end of a longer one.
func (s *section) places(text string, begins bool) map[uint64]bool {
	const step, most = 1 << 20, 1 << 16
	found := map[uint64]bool{}
	want := append([]byte(text), 0)
	if begins {
		want = []byte(text)
	}
	for at := uint64(0); at < s.len(); at += step {
		end := min(at+step+uint64(len(want))-1, s.len())
		b, err := s.bytes(at, end)
		if err != nil {
			break
		}
		for from := 0; len(found) < most; {
			i := bytes.Index(b[from:], want)
			if i < 0 {
				break
			}
			found[at+uint64(from+i)] = true
			from += i + 1
		}
	}
	return found
}
