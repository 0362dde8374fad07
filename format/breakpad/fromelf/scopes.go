package fromelf

import dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
import "sort"

// scope is a namespace, a class or the like, whose name is a part of its functions' names.
type scope struct {
	start, end uint64 // offsets of its entry, and behind its last child
	parent     int32  // index; -1 if it is the unit
	name       dwarfdata.Value
	function   bool // a function that has classes of its own
}

// scopes are a unit's scopes, by start.
type scopes struct {
	list []scope
}

// around returns the index of the innermost scope around the entry at an offset; -1 if that is the
// unit.
func (x *scopes) around(off uint64) int32 {
	i := int32(sort.Search(len(x.list), func(i int) bool { return x.list[i].start >= off })) - 1
	for i >= 0 && x.list[i].end <= off {
		i = x.list[i].parent
	}
	return i
}

// maxNested bounds how deep scopes, and references from entry to entry, may nest.
const maxNested = 256

// maxName is the length of the longest name that is put together of scopes, bytes.
const maxName = 1 << 16
