package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/dwarfdata"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// contents are the functions and lines of a unit.
type contents struct {
	scopes    []scope
	types     []typeScope            // C++ types in a scope, ascending by offset
	dies      map[uint64]*subprogram // by offset in .debug_info
	functions []function             // each followed by what was inlined into it, outer before inner
	code      interval.Nested[int32] // physical functions
	sites     []callSite             // ascending by pc
	jumps     []int32                // indexes in sites of the tail calls, ascending by function
	lines     *lineTable             // nil if there is none
	ranges    [][2]uint64            // backs the ranges of functions

	// inside has, of functions into which many calls are inlined directly, which of these has an
	// address: its index in functions.
	inside map[int]interval.Map[int32]
}

// scope is a namespace, class or the like around a function. Scope 0 is the
// unit itself.
type scope struct {
	parent int32
	name   value // none: an anonymous namespace
}

// typeScope is the scope that a type is in.
type typeScope struct {
	off   uint64
	scope int32
}

// subprogram is one entry of a function. A function often has three: for its code,
// its abstract instance and its declaration.
type subprogram struct {
	name, linkage value
	origin        value  // reference to the entry that says more, if there is one
	enters        uint64 // of its code; nowhere if it has none
	scope         int32
	arguments     bool
	declared      bool // another entry, maybe in another unit, defines it
	specified     bool // origin refers to the declaration of what this entry defines
	allJumps      bool // all its tail calls are among the unit's call sites

	shown  atomic.Pointer[shown]  // set when first asked for
	symbol atomic.Pointer[string] // name of its symbol, the same
}

// function is a function's code: on its own, or inlined into another function.
type function struct {
	*subprogram
	inline         bool
	at             uint64 // offset of its entry
	callFile, line int32  // of the call, if inlined
	end            int32  // index behind the last function inlined into this one
	enters         uint64 // address at which the code is entered; no range need hold it
	ranges         [][2]uint64
	frameBase      value // DW_AT_frame_base; none if it is inlined
}

func (f *function) holds(addr uint64) (start, end uint64, ok bool) {
	ranges := f.ranges
	if len(ranges) > fewRanges {
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i][1] > addr })
		ranges = ranges[i:min(i+1, len(ranges))]
	}
	for _, r := range ranges {
		if addr >= r[0] && addr < r[1] {
			return r[0], r[1], true
		}
	}
	return 0, 0, false
}

// maxDepth bounds the nesting of entries. Compilers nest some dozens.
const maxDepth = 1 << 12

// load reads a unit's functions and lines, once.
func (d *debugInfo) load(u *unit) {
	u.read.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if h, _ := d.header(u); h == nil {
			u.head = &header{}
		}
		u.contents = &contents{scopes: []scope{{}}, dies: make(map[uint64]*subprogram)}
		// After an error, the functions that were read before it are used.
		if err := d.readFunctions(u); err != nil {
			d.warn(fmt.Errorf("read functions of unit %q at offset %#x of .debug_info: %w", d.text(u, u.head.name), u.start, err))
		}
		for i := range u.functions {
			f := &u.functions[i]
			if f.end == 0 { // cut off by an error
				f.end = int32(len(u.functions))
			}
			f.sortRanges()
			if !f.inline {
				for _, r := range f.ranges {
					u.code.Add(r[0], r[1], int32(i))
				}
			}
		}
		u.code.Sort()
		u.indexCalls()
		u.sortSites()
		d.openSplit(u)
		if err := d.readLines(u); err != nil {
			d.warn(fmt.Errorf("read lines of unit %q at offset %#x of .debug_info: %w", d.text(u, u.head.name), u.start, err))
		}
		if u.split != nil {
			u.split.unit.lines = u.lines // its calls refer to the numbers of these files
		}
	})
}

// level is one level of nesting in the walk over a unit's entries.
type level struct {
	scope    int32
	function int32       // index of the function around the entries of this level; -1 if there is none
	physical int32       // the same, but for functions that are not inlined
	opened   bool        // the entries of this level are that function's children
	owner    *subprogram // the function whose parameters are on this level
}

// readFunctions walks over all entries of a unit. The caller holds d.mu.
func (d *debugInfo) readFunctions(u *unit) error {
	table, err := d.abbrevs(u)
	if err != nil {
		return err
	}
	data, err := d.info.bytes(u.entry, u.end)
	if err != nil {
		return err
	}
	if n := int64(len(data)); d.info.compressed() && n <= d.room.left.Load()/2 && d.room.keep(max(n-d.recent.room, 0)) {
		d.recent.unit, d.recent.data, d.recent.room = u, data, max(n, d.recent.room)
	}
	c := entryCursor{Reader: dwarfdata.New(data, d.order), unit: u, base: u.entry}
	levels := []level{{function: -1, physical: -1}}
	counted, kept := c.offset(), 0 // the offset up to which memory was taken, and how much
	for c.More() {
		off := c.offset()
		code := c.ULEB128()
		if code == 0 && !c.Bad {
			at := levels[len(levels)-1]
			if at.opened {
				u.functions[at.function].end = int32(len(u.functions))
			}
			if levels = levels[:len(levels)-1]; len(levels) <= 1 {
				return nil
			}
			continue
		}
		a := table.find(code)
		if a == nil && !c.Bad {
			return fmt.Errorf("entry at offset %#x: no abbreviation has code %d", off, code)
		}
		if off-counted > 64 { // in memory, entries take up several times their bytes
			if err := d.take(u.kept() - kept); err != nil {
				return err
			}
			counted, kept = off, u.kept()
		}
		at := levels[len(levels)-1]
		inner := level{scope: at.scope, function: at.function, physical: at.physical}
		if at.scope != 0 && u.head.language.scopesTypes() && isType(a) {
			u.types = append(u.types, typeScope{off, at.scope})
		}
		var next uint64 // sibling of an entry that has no functions within
		switch {
		case c.Bad:
		case a.tag == dwarf.TagFormalParameter:
			if at.owner != nil {
				at.owner.arguments = true
			}
			c.skip(a)
		case a.tag == dwarf.TagLexDwarfBlock && !a.hasCode():
			inner.owner = at.owner // like GDB, as if there were no block: Rust's macros put parameters into some
			c.skip(a)
		case isScope(a.tag), a.tag == dwarf.TagEnumerationType && u.head.language == languageScope: // Rust's have methods
			e := c.entry(a)
			inner.scope = u.enter(at.scope, a, &e)
		case a.tag == dwarf.TagSubprogram || a.tag == dwarf.TagInlinedSubroutine:
			e := c.entry(a)
			if c.Bad || c.err != nil {
				break
			}
			if err := d.readFunction(u, off, a.tag, &e, at, &inner); err != nil {
				return err
			}
		case isCallSite(a.tag):
			e := c.callEntry(a)
			if !c.Bad && c.err == nil && at.physical >= 0 {
				d.addSite(u, at.physical, &e)
			}
			if a.children && e.sibling.class == classReference {
				next = e.sibling.n
			}
		case a.children && isLeaf(a.tag):
			e := c.entry(a)
			if e.sibling.class == classReference {
				next = e.sibling.n
			}
		default:
			c.skip(a)
		}
		switch {
		case c.Overflow:
			return fmt.Errorf("entry at offset %#x: cut off by a number of more than 64 bits", off)
		case c.Bad:
			return fmt.Errorf("entry at offset %#x: cut off by the unit's end (%#x)", off, u.end)
		case c.err != nil:
			return fmt.Errorf("entry at %w", c.err)
		case next > c.offset() && next < u.end: // the walk never goes back
			c.Take(next - c.offset())
			continue
		case !a.children:
			if inner.opened {
				u.functions[inner.function].end = int32(len(u.functions))
			}
			continue
		case len(levels) == maxDepth:
			return fmt.Errorf("entry at offset %#x: nested deeper than %d", off, maxDepth)
		}
		levels = append(levels, inner)
	}
	return nil
}

// kept estimates the memory in bytes that the unit's contents take up.
func (u *unit) kept() int {
	const scope, typ, die, function, site = 24, 16, 200, 136, 60
	return scope*len(u.scopes) + typ*len(u.types) + die*len(u.dies) + function*len(u.functions) + site*len(u.sites)
}

// isScope reports whether the names of functions within an entry begin with its name.
func isScope(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		return true
	}
	return false
}

// isType reports whether entries of a are types whose names are shown with their scope.
func isType(a *abbrev) bool {
	if a == nil {
		return false
	}
	switch a.tag {
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagTypedef:
		return true
	}
	return false
}

// hasCode reports whether entries of a have an address of code of their own.
func (a *abbrev) hasCode() bool {
	return slices.ContainsFunc(a.attrs, func(x attrForm) bool { return x.attr == dwarf.AttrLowpc || x.attr == dwarf.AttrRanges })
}

// isLeaf reports whether there are no functions within an entry.
func isLeaf(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
		return true
	}
	return false
}

// enter returns the scope that an entry opens. Like GDB, it gives the methods of
// a class without a name (a lambda's) no scope at all.
func (u *unit) enter(parent int32, a *abbrev, e *entry) int32 {
	switch {
	case !a.children:
		return parent
	case !e.name.text() && a.tag != dwarf.TagNamespace:
		return 0
	}
	u.scopes = append(u.scopes, scope{parent, e.name})
	return int32(len(u.scopes) - 1)
}

// readFunction adds the function of e, an entry on the level at, to u. It sets up inner
// for the entry's children.
func (d *debugInfo) readFunction(u *unit, off uint64, tag dwarf.Tag, e *entry, at level, inner *level) error {
	inline := tag == dwarf.TagInlinedSubroutine
	before := len(u.contents.ranges)
	ranges, err := d.appendRanges(u.contents.ranges, u, u.head, e)
	if err == errTooMuch {
		return err
	}
	u.contents.ranges = ranges
	ranges = ranges[before:len(ranges):len(ranges)]
	if !inline {
		inner.function, inner.physical = -1, -1
	}
	if inline && (len(ranges) == 0 || at.function < 0 || e.callFile.class == classNone || e.callLine.class == classNone) {
		return nil // no code, or GDB's rule for a call from an unknown line; its children belong to the function around it
	}
	s := &subprogram{scope: at.scope, name: e.name, linkage: e.linkage, enters: nowhere, declared: e.declared, allJumps: e.allJumps}
	if s.origin = e.origin; !e.origin.reference() {
		s.origin, s.specified = e.specification, e.specification.reference()
	}
	inner.owner = s
	if u.head.language == languageFortran && !inline { // as GDB, without the scope of the function around
		if inner.scope = 0; e.name.text() {
			u.scopes = append(u.scopes, scope{0, e.name})
			inner.scope = int32(len(u.scopes) - 1)
		}
	}
	if !inline {
		u.dies[off] = s
	}
	if len(ranges) == 0 {
		return nil
	}
	f := function{subprogram: s, inline: inline, at: off, enters: ranges[0][0], ranges: ranges}
	if e.entered {
		f.enters = e.enters
	}
	if !inline {
		f.frameBase = e.frameBase
	} else {
		f.callFile, f.line = e.callFile.number(), e.callLine.number()
	}
	u.functions = append(u.functions, f)
	inner.function, inner.opened = int32(len(u.functions)-1), true
	if !inline {
		s.enters, inner.physical = f.enters, inner.function
	}
	return nil
}
