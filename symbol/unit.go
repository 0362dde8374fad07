package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// unit is one compilation unit (or a partial one, of functions that several
// units share).
type unit struct {
	entry, end dwarf.Offset // of its first entry in .debug_info, and behind its last
	version    int
	addrSize   int
	header     dwarf.Entry
	name, dir  string // primary source file, compilation directory
	language   language

	read      sync.Once
	scopes    []scope
	dies      map[dwarf.Offset]*subprogram
	functions []function // each followed by what was inlined into it, outer before inner
	code      spans      // physical functions
	lines     *lineTable // nil if there is none
}

// scope is a namespace, class or the like around a function. Scope 0 is the
// unit itself.
type scope struct {
	parent int32
	name   string
}

// subprogram is what one entry says of a function. A function's code, its
// abstract instance and its declaration are often three entries.
type subprogram struct {
	name, linkage string
	scope         int32
	arguments     bool
	origin        dwarf.Offset // the entry that says more; 0 if none does

	shown atomic.Pointer[shown] // set when first asked for
}

// function is code: of a function of its own, or inlined into another.
type function struct {
	*subprogram
	inline         bool
	callFile, line int32 // of the call, if inlined
	end            int32 // index behind the last function inlined into this one
	ranges         [][2]uint64
}

func (f *function) holds(addr uint64) (start uint64, ok bool) {
	for _, r := range f.ranges {
		if addr >= r[0] && addr < r[1] {
			return r[0], true
		}
	}
	return 0, false
}

// maxDepth bounds the nesting of entries; compilers go to some dozens.
const maxDepth = 1 << 12

// load reads a unit's functions and lines, once.
func (d *debugInfo) load(u *unit) {
	u.read.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		u.scopes = []scope{{}}
		u.dies = make(map[dwarf.Offset]*subprogram)
		// What could be read before an error serves.
		if err := guard(func() error { return d.readFunctions(u) }); err != nil {
			d.warn(fmt.Errorf("read functions of unit %q at offset %#x of .debug_info: %w", u.name, u.entry, err))
		}
		for i := range u.functions {
			f := &u.functions[i]
			if f.end == 0 { // cut off by an error
				f.end = int32(len(u.functions))
			}
			if !f.inline {
				for _, r := range f.ranges {
					u.code.add(r[0], r[1], int32(i))
				}
			}
		}
		u.code.sort()
		if err := guard(func() error { return d.readLines(u) }); err != nil {
			d.warn(fmt.Errorf("read lines of unit %q at offset %#x of .debug_info: %w", u.name, u.entry, err))
		}
	})
}

// level is one level of nesting in the walk over a unit's entries.
type level struct {
	scope    int32
	function int32       // that contains what comes; -1 if none does
	opened   bool        // this level is that function's own
	owner    *subprogram // whose parameters are on this level
}

// readFunctions walks over all entries of a unit. The caller holds d.mu.
func (d *debugInfo) readFunctions(u *unit) error {
	r := d.data.Reader()
	r.Seek(u.entry)
	levels := []level{{function: -1}}
	// Each entry takes up a byte at least; debug/dwarf does not move on at all
	// over an unterminated number.
	for left := int(u.end - u.entry); left > 0; left-- {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			return nil
		}
		if e.Tag == 0 {
			at := levels[len(levels)-1]
			if at.opened {
				u.functions[at.function].end = int32(len(u.functions))
			}
			if levels = levels[:len(levels)-1]; len(levels) <= 1 {
				return nil
			}
			continue
		}
		if e.Offset >= u.end {
			return nil // the next unit
		}
		if err := d.entryText(e); err != nil {
			return err
		}
		at := levels[len(levels)-1]
		inner := level{scope: at.scope, function: at.function}
		switch e.Tag {
		case dwarf.TagFormalParameter:
			if at.owner != nil {
				at.owner.arguments = true
			}
		case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			inner.scope = u.enter(at.scope, e)
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if err := d.readFunction(u, e, at, &inner); err != nil {
				return err
			}
		case dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
			// No functions in there. The sibling must lie ahead: a walk that goes
			// back never ends.
			if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && e.Children && next > e.Offset && next < u.end {
				r.Seek(next)
				continue
			}
		}
		if !e.Children {
			if inner.opened {
				u.functions[inner.function].end = int32(len(u.functions))
			}
			continue
		}
		if len(levels) == maxDepth {
			return fmt.Errorf("entry at offset %#x: nested deeper than %d", e.Offset, maxDepth)
		}
		levels = append(levels, inner)
	}
	return nil
}

// enter returns the scope that an entry opens. Like GDB, it gives the methods of
// a class without a name (a lambda's) no scope at all.
func (u *unit) enter(parent int32, e *dwarf.Entry) int32 {
	name, ok := e.Val(dwarf.AttrName).(string)
	switch {
	case !e.Children:
		return parent
	case ok:
	case e.Tag == dwarf.TagNamespace:
		name = "(anonymous namespace)"
	default:
		return 0
	}
	u.scopes = append(u.scopes, scope{parent, name})
	return int32(len(u.scopes) - 1)
}

// readFunction notes a function's entry, in the level that it is on, and says
// in inner what its children belong to.
func (d *debugInfo) readFunction(u *unit, e *dwarf.Entry, at level, inner *level) error {
	s := &subprogram{scope: at.scope, linkage: linkageName(e)}
	s.name, _ = e.Val(dwarf.AttrName).(string)
	if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		s.origin = origin
	} else if origin, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
		s.origin = origin
	}
	inline := e.Tag == dwarf.TagInlinedSubroutine
	ranges, err := d.entryRanges(e)
	if err == errTooMuch {
		return err
	}
	if !inline {
		inner.function = -1
	}
	if len(ranges) == 0 || inline && at.function < 0 {
		if inline {
			return nil // no code; what is in it belongs to the function around it
		}
		u.dies[e.Offset] = s
		inner.owner = s
		return nil
	}
	f := function{subprogram: s, inline: inline, ranges: slices.Clip(ranges)}
	if inline {
		f.callFile, f.line = entryInt(e, dwarf.AttrCallFile), entryInt(e, dwarf.AttrCallLine)
	}
	u.functions = append(u.functions, f)
	inner.function, inner.opened = int32(len(u.functions)-1), true
	inner.owner = s
	if !inline {
		u.dies[e.Offset] = s
	}
	return nil
}

func entryInt(e *dwarf.Entry, a dwarf.Attr) int32 {
	v, _ := e.Val(a).(int64)
	if v < 0 || v > 1<<31-1 {
		return 0
	}
	return int32(v)
}

func linkageName(e *dwarf.Entry) string {
	const mips = 0x2007 // DW_AT_MIPS_linkage_name, before DWARF 4
	if s, ok := e.Val(dwarf.AttrLinkageName).(string); ok {
		return s
	}
	s, _ := e.Val(dwarf.Attr(mips)).(string)
	return s
}
