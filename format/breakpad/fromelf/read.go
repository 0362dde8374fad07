package fromelf

import (
	"debug/dwarf"

	"github.com/sfwalk/sfwalk/format/breakpad"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// reader reads the functions of one unit after the other. Its memory is used again.
type reader struct {
	d     *Dump
	s     *sections
	lines *sections // has the line table: another file's if the DWARF is split
	u     *unit
	data  []byte // of the unit
	table *dwarfdata.Abbrevs
	key   dwarfdata.AbbrevKey

	namesOnly bool // only scopes are asked for
	scopes    scopes
	functions []function
	inlines   []inlined
	ranges    []breakpad.Range

	name    []byte // the name that is put together
	origins map[dwarfdata.Value]uint32
	files   fileTable
	rows    []row
	code    []codeRange
	encoded []byte
	chunk   []byte // what functions are kept in
	read    []byte // what the unit is read into
	program []byte // what its line table is read into

	lineTable dwarfdata.Lines
	lineBytes []byte // of the line table

	out []found
}

// function is a function of the unit that has code.
type function struct {
	at              uint64 // offset of its entry
	names           names
	ranges, ranges2 int32 // its ranges in reader.ranges: from, to
	inlines         int32 // its first inlined call in reader.inlines
	inlinesEnd      int32
	rows            []row
}

// inlined is a call that was inlined.
type inlined struct {
	function        int32 // index in reader.functions
	depth           int32
	origin          dwarfdata.Value
	callFile        uint64
	callLine        uint64
	ranges, ranges2 int32 // its ranges in reader.ranges: from, to
	hasFile         bool
}

func (r *reader) warn(err error) { r.d.warn(r.u, err) }

// reset prepares r for a unit.
func (r *reader) reset(s, lines *sections, u *unit) (ok bool) {
	if key := u.AbbrevKey(); r.table == nil || r.s != s || r.key != key {
		t, err := s.readAbbrevs(u)
		if err != nil {
			r.u = u
			r.warn(err)
			r.table = nil
			return false
		}
		r.table, r.key = t, key
	}
	r.s, r.lines, r.u = s, lines, u
	r.scopes.list, r.inlines, r.ranges = r.scopes.list[:0], r.inlines[:0], r.ranges[:0]
	r.functions = r.functions[:0]
	if r.origins == nil {
		r.origins = make(map[dwarfdata.Value]uint32)
	}
	clear(r.origins)
	r.data = s.info.part(u.Start, u.End, r.read)
	if s.info.file != nil {
		r.read = r.data
	}
	return s.head(u, r.data, r.table)
}

// walk reads the entries of the unit.
func (r *reader) walk() {
	c := r.s.at(r.u, r.data, r.u.Entry)
	a := r.table.Find(c.ULEB128())
	if a == nil {
		return
	}
	c.Skip(a)
	if a.Children {
		r.children(&c, place{scope: -1, function: -1}, 0)
	}
	if c.Bad {
		r.warn(cut("entry", c.Offset()))
	}
}

// place is where an entry is.
type place struct {
	scope    int32 // index in scopes; -1 for the unit
	function int32 // index in functions; -1 if it is in none
	depth    int32 // of inlined calls around it
	within   bool  // directly in a function, with code or without
}

// maxDepth bounds the nesting of entries. Compilers nest some dozens.
const maxDepth = 1 << 12

// children reads entries up to the end of their list.
func (r *reader) children(c *dwarfdata.Cursor, p place, depth int) {
	if depth > maxDepth {
		c.Bad = true
		return
	}
	like := r.d.opts.LikeDumpSyms
	for !c.Bad && c.Left() > 0 {
		at := c.Offset()
		code := c.ULEB128()
		if code == 0 {
			return
		}
		a := r.table.Find(code)
		if a == nil {
			c.Bad = true
			return
		}
		switch a.Tag {
		case dwarf.TagSubprogram:
			if like && p.within {
				r.skip(c, a)
				continue
			}
			r.subprogram(c, a, at, p, depth)
		case dwarf.TagNamespace, dwarf.TagModule:
			if like && p.within {
				r.skip(c, a)
				continue
			}
			r.scope(c, a, at, p, depth)
		case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			r.scope(c, a, at, p, depth)
		case dwarf.TagInlinedSubroutine:
			if p.function < 0 || r.namesOnly || r.d.opts.NoInlines {
				r.skip(c, a)
				continue
			}
			r.inlined(c, a, p, depth)
		case dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
			if !p.within || like || !a.Children {
				r.skip(c, a)
				continue
			}
			c.Skip(a)
			r.children(c, p, depth+1)
		default:
			r.skip(c, a)
		}
	}
}

// skip goes over an entry and its children.
func (r *reader) skip(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) {
	if !a.Children {
		c.Skip(a)
		return
	}
	r.skipChildren(c, c.SkipTo(a))
}

// skipChildrenOf goes over the children of an entry, whose attributes were read.
func (r *reader) skipChildrenOf(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) {
	if a.Children {
		r.skipChildren(c, 0)
	}
}

// skipChildren goes over the children of an entry. sibling is where the next entry is; 0 if that is
// not known.
func (r *reader) skipChildren(c *dwarfdata.Cursor, sibling uint64) {
	if sibling > c.Offset() && sibling <= r.u.End {
		c.Seek(sibling)
		return
	}
	for depth := 1; depth > 0 && !c.Bad; {
		code := c.ULEB128()
		if code == 0 {
			depth--
			continue
		}
		a := r.table.Find(code)
		if a == nil {
			c.Bad = true
			return
		}
		c.Skip(a)
		if a.Children {
			depth++
		}
	}
}

// scope reads a namespace, class or the like.
func (r *reader) scope(c *dwarfdata.Cursor, a *dwarfdata.Abbrev, at uint64, p place, depth int) {
	if !a.Children {
		c.Skip(a)
		return
	}
	sc := scope{start: at, parent: p.scope}
	for i := range a.Attrs {
		x := &a.Attrs[i]
		if v := c.Value(x.Form, x.Implicit); x.Attr == dwarf.AttrName {
			sc.name = v
		}
	}
	p.scope, p.within = int32(len(r.scopes.list)), false
	r.scopes.list = append(r.scopes.list, sc)
	r.children(c, p, depth+1)
	r.scopes.list[p.scope].end = c.Offset()
}

// subprogram reads a function.
func (r *reader) subprogram(c *dwarfdata.Cursor, a *dwarfdata.Abbrev, at uint64, p place, depth int) {
	f := function{at: at}
	var low, high, ranges dwarfdata.Value
	for i := range a.Attrs {
		x := &a.Attrs[i]
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrLowpc:
			low = v
		case dwarf.AttrHighpc:
			high = v
		case dwarf.AttrRanges:
			ranges = v
		default:
			f.names.set(x.Attr, v)
		}
	}
	if c.Bad {
		return
	}
	f.ranges = int32(len(r.ranges))
	if !r.namesOnly && (high.Class != dwarfdata.ClassNone || ranges.Class != dwarfdata.ClassNone) {
		r.ranges = r.appendRanges(r.ranges, low, high, ranges)
		if list := r.ranges[f.ranges:]; len(list) > 0 && (list[0].Address == 0 || !r.d.holds(list[0].Address) || sizeOf(list) == 0) {
			r.ranges = r.ranges[:f.ranges]
		}
	}
	f.ranges2 = int32(len(r.ranges))
	index := int32(-1)
	if f.ranges2 > f.ranges {
		index = int32(len(r.functions))
		if len(r.functions) < cap(r.functions) {
			f.rows = r.functions[:index+1][index].rows[:0]
		}
		f.inlines = int32(len(r.inlines))
		r.functions = append(r.functions, f)
	}
	if !a.Children {
		return
	}
	// A function without code may have a class, a lambda's, whose functions have code.
	sc := int32(len(r.scopes.list))
	r.scopes.list = append(r.scopes.list, scope{start: at, parent: p.scope, function: true})
	r.children(c, place{scope: sc, function: index, within: true}, depth+1)
	r.scopes.list[sc].end = c.Offset()
	if int(sc) == len(r.scopes.list)-1 { // no classes of its own
		r.scopes.list = r.scopes.list[:sc]
	}
	if index >= 0 {
		r.functions[index].inlinesEnd = int32(len(r.inlines))
	}
}

// inlined reads an inlined call.
func (r *reader) inlined(c *dwarfdata.Cursor, a *dwarfdata.Abbrev, p place, depth int) {
	in := inlined{function: p.function, depth: p.depth}
	var low, high, ranges dwarfdata.Value
	for i := range a.Attrs {
		x := &a.Attrs[i]
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrLowpc:
			low = v
		case dwarf.AttrHighpc:
			high = v
		case dwarf.AttrRanges:
			ranges = v
		case dwarf.AttrAbstractOrigin:
			in.origin = v
		case dwarf.AttrCallFile:
			in.callFile, in.hasFile = v.N, true
		case dwarf.AttrCallLine:
			in.callLine = v.N & 0x7fffffff
		}
	}
	in.ranges = int32(len(r.ranges))
	if !c.Bad {
		r.ranges = r.appendRanges(r.ranges, low, high, ranges)
	}
	in.ranges2 = int32(len(r.ranges))
	switch {
	case in.ranges2 > in.ranges:
		r.inlines = append(r.inlines, in)
	case r.d.opts.LikeDumpSyms: // what is inlined into it goes, too
		r.skipChildrenOf(c, a)
		return
	}
	if a.Children {
		p.depth++
		r.children(c, p, depth+1)
	}
}

func sizeOf(list []breakpad.Range) (n uint64) {
	for _, x := range list {
		n += x.Size
	}
	return n
}
