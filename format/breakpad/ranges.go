package breakpad

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// place is where the record of a range of addresses is in the file.
type place struct {
	Range
	offset int64
	// outer is 1 + the index of the next place to look at if this one does not hold an address
	// behind it: of the last place before that goes on beyond this one's end; 0 if there is none.
	outer uint32
	// far is 1 + the index of a place that is further out on the same way; 0 if there is none. Of
	// places that lie n deep in each other, it takes (log n)² steps to find one.
	far uint32
}

// ranges are places, sorted by [sortPlaces]: by address, then the larger before the smaller. No two
// are equal: the first in the file stays. They are in a list, or as an index file has them.
type ranges struct {
	list []place
	kept keptTable
}

func (r *ranges) len() int { return len(r.list) + r.kept.count }

func (r *ranges) at(i int) place {
	if r.kept.pages != nil {
		return r.kept.place(i)
	}
	return r.list[i]
}

// above returns the index of the first place that begins above addr.
func (r *ranges) above(addr uint64) int {
	return sort.Search(r.len(), func(i int) bool { return r.at(i).Address > addr })
}

// places are the places of one block, in its order.
type places []place

// add notes the record at offset. f is at its address and size, and more numbers must follow.
func (r *places) add(f *fields, more int, offset int64) {
	p := place{Range: Range{f.hex("address"), f.hex("size")}, offset: offset}
	for range more {
		f.hex("number behind the size")
	}
	if f.err == nil && p.Size > 0 {
		*r = append(*r, p)
	}
}

// joinRanges collects the places of all blocks, sorts them, and finds which of them lie in which.
func joinRanges(blocks []block, of func(*block) *places) ranges {
	n := 0
	for i := range blocks {
		n += len(*of(&blocks[i]))
	}
	all := make([]place, 0, min(n, math.MaxInt32))
	for i := range blocks {
		some := of(&blocks[i])
		all = append(all, (*some)[:min(len(*some), cap(all)-len(all))]...)
		*some = nil
	}
	all = sortPlaces(all)
	var open []uint32 // places around or before this one, each ending behind the next
	for i := range all {
		for len(open) > 0 && all[open[len(open)-1]].last() <= all[i].last() {
			open = open[:len(open)-1]
		}
		if n := len(open); n > 0 {
			all[i].outer = open[n-1] + 1
			all[i].far = open[farther(n)] + 1
		}
		open = append(open, uint32(i))
	}
	return ranges{list: all}
}

// sortPlaces sorts places as [ranges] says. Of several places of one range, the first in the file
// stays, which hides the others.
func sortPlaces(list places) places {
	slices.SortFunc(list, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(b.Size, a.Size), cmp.Compare(a.offset, b.offset))
	})
	return slices.CompactFunc(list, func(a, b place) bool { return a.Range == b.Range })
}

// farther returns the depth of the place that one at depth n > 0 leads to, beside that at n-1: n
// without its lowest bits up to the first that is set. So a few such steps come to any depth.
func farther(n int) int { return n & (n - 1) }

// last returns the last address of p. A range that would go on beyond the last address ends there.
func (p *place) last() uint64 {
	if last := p.Address + p.Size - 1; last >= p.Address {
		return last
	}
	return math.MaxUint64
}

// find returns the place that holds addr; of several, the one that begins last, which is the
// innermost.
func (r *ranges) find(addr uint64) (p place, ok bool) {
	for i := r.above(addr); i > 0; {
		p := r.at(i - 1)
		if addr >= p.Address && addr <= p.last() {
			return p, true
		}
		if int64(p.outer) >= int64(i) || p.far > p.outer {
			return place{}, false // of an index that lies
		}
		i = int(p.outer)
		if p.far > 0 {
			if far := r.at(int(p.far) - 1); far.last() < addr { // so are the ranges between
				i = int(p.far)
			}
		}
	}
	return place{}, false
}

// startsIn reports whether a range begins in (after, upTo].
func (r *ranges) startsIn(after, upTo uint64) bool {
	i := r.above(after)
	return i < r.len() && r.at(i).Address <= upTo
}

// point is where the record of an address, or of a number, is in the file.
type point struct {
	key    uint64
	offset int64
}

// points are sorted by key, which is unique, in a list or as an index file has them.
type points struct {
	list []point
	kept keptTable
}

func (l *points) len() int { return len(l.list) + l.kept.count }

func (l *points) at(i int) point {
	if l.kept.pages != nil {
		return l.kept.point(i)
	}
	return l.list[i]
}

// above returns the index of the first point whose key is above key.
func (l *points) above(key uint64) int {
	return sort.Search(l.len(), func(i int) bool { return l.at(i).key > key })
}

// find returns the point with the highest key up to key.
func (l *points) find(key uint64) (p point, ok bool) {
	i := l.above(key)
	if i == 0 {
		return point{}, false
	}
	return l.at(i - 1), true
}

// joinPoints collects the points of all blocks.
func joinPoints(blocks []block, of func(*block) *[]point) points {
	n := 0
	for i := range blocks {
		n += len(*of(&blocks[i]))
	}
	all := make([]point, 0, n)
	for i := range blocks {
		all = append(all, *of(&blocks[i])...)
		*of(&blocks[i]) = nil
	}
	return points{list: sortPoints(all)}
}

// sortPoints sorts points by key. Of equal keys the first in the file stays.
func sortPoints(list []point) []point {
	slices.SortFunc(list, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offset, b.offset))
	})
	return slices.CompactFunc(list, func(a, b point) bool { return a.key == b.key })
}
