package symbol

import (
	"debug/dwarf"
	"fmt"
	"sort"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// contents are what is kept of a unit's entries: where its functions are, and the scopes around
// them. What is within a function, and what functions are called, is read when somebody asks for
// it.
type contents struct {
	scopes    []scope                // ascending by start; an outer one before those within it
	functions []codeEntry            // that have code and are not inlined, ascending by offset
	code      interval.Nested[int32] // of the functions, with their indexes
}

// scope is a namespace, class or the like around functions. Offsets count from the beginning of the
// unit.
type scope struct {
	start, end uint32
	parent     int32           // index of the scope around this one; -1 for none
	none       bool            // what is within it has no scope at all
	alone      bool            // names do not begin with the scopes around this one
	name       dwarfdata.Value // none: an anonymous namespace
}

// codeEntry is the entry of a function that has code. Offsets count from the beginning of the unit.
type codeEntry struct{ start, end uint32 }

// maxUnit bounds the size of a unit whose entries are read, bytes: offsets in it fit in 32 bits.
// The largest units have some dozen megabytes.
const maxUnit = maxPart

// maxDepth bounds the nesting of entries. Compilers nest some dozens.
const maxDepth = 1 << 12

// open reads the first entry of a unit, and opens the rest of the unit where it is split, once. The
// header of an open unit is not nil.
func (d *debugInfo) open(u *unit) {
	u.opened.Do(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if h, _ := d.header(u); h == nil {
			u.head = &header{}
		}
		u.held = &holding{room: d.room, drop: func() { u.contents.Store(nil) }}
		u.details.held = &holding{room: d.room, cheap: true, drop: u.details.drop}
		u.data.held = &holding{room: d.room, cheap: true, drop: func() { u.data.all.Store(nil) }}
		d.holdings().add(u.held, u.details.held, u.data.held)
		d.openSplit(u)
	})
}

// load opens a unit, and returns its contents. It reads them if they are not there yet, or not any
// more.
func (d *debugInfo) load(u *unit) *contents {
	d.open(u)
	if c := u.contents.Load(); c != nil {
		u.held.touch()
		return c
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := u.contents.Load(); c != nil {
		return c
	}
	if d.info.far() {
		d.keepUnit(u)
	}
	c := new(contents)
	u.held.busy.Store(true)
	defer u.held.busy.Store(false)
	// After an error, the functions that were read before it are used.
	if err := d.scanUnit(u, c); err != nil {
		d.warn(fmt.Errorf("read functions of unit %q at offset %#x of .debug_info: %w", d.text(u, u.head.name), u.Start, err))
	}
	c.code.Sort()
	u.contents.Store(c)
	u.held.touch()
	u.again = true
	return c
}

// isScope reports whether the names of functions within an entry begin with its name.
func isScope(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		return true
	}
	return false
}

// isType reports whether entries of a tag are types whose names are shown with their scope.
func isType(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagTypedef:
		return true
	}
	return false
}

// scopeAround returns the index of the innermost scope that the entry at an offset of the section
// is within; -1 if there is none.
func (c *contents) scopeAround(u *unit, off uint64) int32 {
	at := uint32(off - u.Start)
	i := int32(sort.Search(len(c.scopes), func(i int) bool { return c.scopes[i].start >= at })) - 1
	for i >= 0 && c.scopes[i].end <= at {
		i = c.scopes[i].parent
	}
	return i
}
