package coreclr

import "github.com/sfwalk/sfwalk/target"

// The map of code is a tree of levels tables, each of which has 1<<levelBits pointers, by the bits
// of an address from the highest known one on. Its leaves are lists of fragments. (RangeSectionMap)
const (
	levels        = 5
	levelBits     = 8
	addressBits   = 57
	collectible   = 1       // of a pointer: what it leads to may be freed
	mostFragments = 1 << 10 // of a leaf: 128 KiB of addresses
)

// Flags of a section.
const (
	flagHeap  = 2 // it has code that was compiled at run time
	flagStubs = 4 // it has stubs alone
)

// section is a range of addresses that has code.
type section struct {
	begin, end uint64
	flags      uint32
	heap       uint64 // of compiled code; 0 for none
	module     uint64 // that brings the code along; 0 for none
}

// sectionOf returns the section that has pc.
func (r *Runtime) sectionOf(m target.Memory, pc uint64) (s section, ok bool) {
	if pc>>addressBits != 0 {
		return s, false
	}
	at := r.top
	for i := range levels {
		shift := addressBits - levelBits*(i+1)
		at = word(m, at+8*(pc>>shift&(1<<levelBits-1))) &^ collectible
		if at == 0 {
			return s, false
		}
	}
	for range mostFragments {
		if s, ok = r.fragment(m, at); ok && s.begin <= pc && pc < s.end {
			return s, true
		}
		if at = word(m, at+r.section.next) &^ collectible; at == 0 {
			break
		}
	}
	return section{}, false
}

// fragment returns the section of a fragment, with the fragment's part of the addresses.
func (r *Runtime) fragment(m target.Memory, at uint64) (s section, ok bool) {
	l := &r.section
	from := word(m, at+l.section)
	s = section{begin: word(m, at+l.begin), end: word(m, at+l.end), heap: word(m, from+l.heap), module: word(m, from+l.module)}
	s.flags, ok = half(m, from+l.flags)
	return s, ok && s.begin < s.end
}

const (
	mostLooked = 1 << 9 // tables and leaves that check looks at
)

// check reports whether the process agrees with the layout: the modules of code that was brought
// along lead to their headers, and to their images.
func (r *Runtime) check(m target.Memory) bool {
	left := mostLooked
	var look func(at uint64, level int) (right, wrong bool)
	look = func(at uint64, level int) (right, wrong bool) {
		left--
		if level == levels {
			s, ok := r.fragment(m, at)
			switch {
			case !ok:
				return false, true
			case s.module == 0 || word(m, s.begin) == 0: // a core file may lack what assemblies bring along
				return false, false
			}
			right = r.ready(m, s.module) != nil && r.Image(m, s.module).Base != 0
			return right, !right
		}
		var table [8 << levelBits]byte
		if !read(m, at, table[:]) {
			return false, true
		}
		for i := 0; i < len(table) && left > 0 && !right && !wrong; i += 8 {
			if next := order.Uint64(table[i:]) &^ collectible; next != 0 {
				right, wrong = look(next, level+1)
			}
		}
		return right, wrong
	}
	_, wrong := look(r.top, 0)
	return !wrong // a process may have no such code
}
