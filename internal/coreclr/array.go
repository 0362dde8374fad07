package coreclr

import "github.com/sfwalk/sfwalk/target"

const (
	clauseSection = 104 // READYTORUN_SECTION_EXCEPTION_INFO
	debugSection  = 105 // READYTORUN_SECTION_DEBUG_INFO
	mostSections  = 128
	block         = 16 // elements of an array that share a tree
)

// sectionOf returns a section of what an assembly has brought along with code: its RVA and its size
// in bytes; 0 if there is none. version is the format's.
func sectionOf(m target.Memory, c *Code, kind uint32) (rva, size uint32, version uint16) {
	var head [16]byte
	if !read(m, c.header, head[:]) {
		return 0, 0, 0
	}
	n := min(order.Uint32(head[12:]), mostSections)
	list := make([]byte, 12*n)
	if !read(m, c.header+16, list) {
		return 0, 0, 0
	}
	for ; len(list) > 0; list = list[12:] {
		if order.Uint32(list) == kind {
			return order.Uint32(list[4:]), order.Uint32(list[8:]), order.Uint16(head[4:])
		}
	}
	return 0, 0, 0
}

// broughtPlaces returns the address of the list of places of code that an assembly has brought
// along, 0 if there is none, and whether it is packed.
func broughtPlaces(m target.Memory, c *Code) (at uint64, packs bool) {
	rva, _, version := sectionOf(m, c, debugSection)
	if rva == 0 {
		return 0, false
	}
	x := image{m, c.Base}
	element, ok := x.element(rva, c.index)
	if !ok {
		return 0, false
	}
	back, next := x.number(element)
	if back != 0 { // another method has the same list
		next = element - back
	}
	return c.Base + uint64(next), version >= packedSince
}

// image reads what an assembly brings along. Addresses are relative to its base.
type image struct {
	m    target.Memory
	base uint64
}

// number reads a number; the count of zeros at the end of its first byte says how long it is.
func (x image) number(at uint32) (v, next uint32) {
	var b [5]byte
	_, _ = x.m.ReadMemory(x.base+uint64(at), b[:])
	first := uint32(b[0])
	switch {
	case first&1 == 0:
		return first >> 1, at + 1
	case first&2 == 0:
		return first>>2 | uint32(b[1])<<6, at + 2
	case first&4 == 0:
		return first>>3 | uint32(b[1])<<5 | uint32(b[2])<<13, at + 3
	case first&8 == 0:
		return first>>4 | uint32(b[1])<<4 | uint32(b[2])<<12 | uint32(b[3])<<20, at + 4
	}
	return order.Uint32(b[1:]), at + 5
}

// element returns where an element of a sparse array is (NativeArray of the run time's native
// format): each block of elements has a tree by the bits of their numbers.
func (x image) element(array, i uint32) (at uint32, ok bool) {
	head, base := x.number(array)
	if i >= head>>2 {
		return 0, false
	}
	var b [4]byte
	size := uint32(1) << (head & 3)
	if size > 4 || !read(x.m, x.base+uint64(base)+uint64(size)*uint64(i/block), b[:size]) {
		return 0, false
	}
	at = base + order.Uint32(b[:])
	for bit := uint32(block / 2); bit > 0; bit /= 2 {
		v, next := x.number(at)
		switch {
		case i&bit != 0 && v&2 != 0:
			at += v >> 2
		case i&bit == 0 && v&1 != 0:
			at = next
		default:
			return next, v&3 == 0 && v>>2 == i%block // the one element that is left
		}
	}
	return at, true
}
