package v8

import "github.com/sfwalk/sfwalk/target"

// area is a part of the heap with objects.
type area struct{ lo, hi uint64 }

// Bounds of the heap.
const (
	firstSpaces = 32 << 10 // bytes from the beginning of an isolate to its list of spaces, at least
	mostSpaces  = 8
	mostPages   = 1 << 17 // of a space
	pageWords   = 48      // of a page's record
	spaceWords  = 128     // of the record of a space
	pageSize    = 256 << 10
)

// areas returns where the objects of an isolate are that JavaScript has made, but for large ones.
// The heap's own structures are found by what they hold: each space leads back to the heap, and has
// its number.
func (h *heap) areas(x *isolate) (list []area) {
	a := h.async
	for i := firstSpaces / 8; i+mostSpaces < len(x.words); i++ {
		heapAt, ok := h.spacesAt(x, x.words[i:i+mostSpaces])
		if !ok {
			continue
		}
		unused := h.unused(x)
		pages := h.pages(x.words[i+a.spaceOld], heapAt, 0)
		for _, p := range pages {
			list = append(list, p.without(unused)...)
		}
		return append(list, h.newAreas(x.words[i+a.spaceNew], heapAt, unused)...)
	}
	h.Fail("the heap was not found")
	return nil
}

// newAreas returns where the objects of the new space are. It has two halves, of which the first
// has objects. Their pages are filled one by one; where the garbage collector has just ended, none
// is set aside yet, and any may have objects.
func (h *heap) newAreas(space, heapAt uint64, unused []area) (list []area) {
	for n := uint64(8); n < 8*spaceWords; n += 8 {
		if h.Uint(space+n+8, 8) != heapAt || int(h.Uint(space+n+16, 1)) != h.async.spaceNew {
			continue
		}
		pages := h.pages(space, heapAt, n)
		used := len(pages)
		for i, p := range pages {
			if _, ok := p.in(unused); ok {
				used = i + 1
			}
		}
		for _, p := range pages[:used] {
			list = append(list, p.without(unused)...)
		}
		return list
	}
	h.Fail("the new space was not found")
	return nil
}

// spacesAt reports whether words of an isolate lead to its spaces, and returns the address of its
// heap.
func (h *heap) spacesAt(x *isolate, words []uint64) (heapAt uint64, ok bool) {
	defer h.Err()
	found := 0
	for i, at := range words {
		if at == 0 {
			continue
		}
		if at%8 != 0 || at < 1<<12 || at >= 1<<47 {
			return 0, false
		}
		of := h.Uint(at+8, 8)
		if !h.OK() || int(h.Uint(at+16, 1)) != i || of-x.at > 8*isolateWords || heapAt != 0 && of != heapAt {
			return 0, false
		}
		heapAt = of
		found++
	}
	return heapAt, found >= 4 && h.OK() && words[h.async.spaceNew] != 0 && words[h.async.spaceOld] != 0
}

// pages returns the areas of the pages of a space, in the order of its list. The record of the
// space begins at offset in the one of another space, as the halves of the new space do.
func (h *heap) pages(space, heapAt, offset uint64) (list []area) {
	a := h.async
	space += offset
	first, last := h.Uint(space+a.spaceList, 8), h.Uint(space+a.spaceList+8, 8)
	if first == 0 {
		return nil
	}
	next := h.nextPage(first, last)
	for page := first; len(list) < mostPages; page = h.Uint(page+next, 8) {
		p := area{h.Uint(page+a.pageBegin, 8), h.Uint(page+a.pageFinish, 8)}
		if h.Uint(page+a.pageHeap, 8) != heapAt || h.Uint(page+a.pageSpace, 8) != space || p.lo >= p.hi || p.hi-p.lo > pageSize {
			h.Fail("a page of the heap makes no sense, at %#x", page)
			return list
		}
		list = append(list, p)
		if page == last || !h.OK() {
			return list
		}
		if next == 0 {
			h.Fail("the pages of the heap were not found")
			return list
		}
	}
	h.Fail("there are more than %d pages", mostPages)
	return list
}

// nextPage returns where the record of a page has the next one, 0 if that is not known: the next
// one leads back.
func (h *heap) nextPage(first, last uint64) uint64 {
	if first == last {
		return 0
	}
	defer h.Err()
	for n := uint64(192); n < 8*pageWords; n += 8 {
		next := h.Uint(first+n, 8)
		if next%8 == 0 && next > 1<<12 && next < 1<<47 && next != first && h.Uint(next+n+8, 8) == first && h.OK() {
			return n
		}
		h.Err()
	}
	return 0
}

// unused returns the parts of pages that are set aside for new objects: what is in them was there
// before. The isolate has them as a beginning, the end of the objects that are made, and an end.
func (h *heap) unused(x *isolate) (list []area) {
	for i := 0; i+3 <= len(x.words); i++ {
		begin, top, end := x.words[i], x.words[i+1], x.words[i+2]
		if begin != 0 && begin <= top && top <= end && begin%8 == 0 && top%8 == 0 && end%8 == 0 && begin < end && (end-1)/pageSize == begin/pageSize {
			list = append(list, area{top, end})
		}
	}
	return list
}

// in returns the part of an area that is in one of a list. ok reports whether there is one, which
// may be empty.
func (p area) in(list []area) (found area, ok bool) {
	for _, u := range list {
		if u.lo >= p.lo && u.hi <= p.hi {
			return u, true
		}
	}
	return area{}, false
}

// without returns an area without parts that are in it.
func (p area) without(list []area) []area {
	u, ok := p.in(list)
	if !ok {
		return []area{p}
	}
	return []area{{p.lo, u.lo}, {u.hi, p.hi}}
}

// scan hands out the objects in an area that have a Map. It looks at each word: free memory apart,
// a Map that all objects of a type share is at the beginning of each, and at few other places.
func (h *heap) scan(m target.Memory, p area, free, want uint64, room []byte, do func(object uint64)) {
	for at := p.lo; at < p.hi; {
		part := room[:min(uint64(len(room)), p.hi-at)]
		got, _ := m.ReadMemory(at, part)
		if got &^= 7; got == 0 {
			return
		}
		i := 0
		for i < got {
			switch h.Arch.Order.Uint64(part[i:]) {
			case want:
				do(at + uint64(i) + 1)
			case free:
				if i+16 > got {
					break
				}
				size := h.Arch.Order.Uint64(part[i+8:])
				if n := size >> 32; isSmall(size) && n >= 16 && n%8 == 0 && uint64(i)+n <= p.hi-at {
					i += int(n)
					continue
				}
			}
			i += 8
		}
		at += uint64(i)
	}
}
