package breakpad

import (
	"container/heap"
	"math"
	"slices"
	"sort"
)

// cover says which of a list's ranges has an address: the first of those that hold it. Its pieces ascend and are disjoint.
type cover []piece

// piece are the addresses up to last.
type piece struct {
	first, last uint64
	index       int // of the range in the list
}

// last returns the last address of r, which is not empty. A range that would go on beyond the last address ends there.
func (r Range) last() uint64 {
	if last := r.Address + r.Size - 1; last >= r.Address {
		return last
	}
	return math.MaxUint64
}

// coverOf makes the cover of n ranges. It has at most 2n pieces.
func coverOf(n int, at func(int) Range) cover {
	var list cover
	ascending := true
	for i := range n {
		if r := at(i); r.Size > 0 {
			ascending = ascending && (len(list) == 0 || list[len(list)-1].last < r.Address)
			list = append(list, piece{r.Address, r.last(), i})
		}
	}
	if ascending {
		return list // as compilers write them
	}
	slices.SortStableFunc(list, func(a, b piece) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	var all cover
	var open pieces // that have begun, the first of the list on top
	from := uint64(0)
	// advance gives away the addresses from from on, up to the one before to.
	advance := func(to uint64) {
		for len(open) > 0 && from < to {
			best := open[0]
			if best.last < from {
				heap.Pop(&open)
				continue
			}
			end := min(best.last, to-1)
			if n := len(all); n > 0 && all[n-1].index == best.index && all[n-1].last+1 == from {
				all[n-1].last = end
			} else {
				all = append(all, piece{from, end, best.index})
			}
			from = end + 1
		}
		from = to
	}
	for _, p := range list {
		advance(p.first)
		heap.Push(&open, p)
	}
	advance(math.MaxUint64) // the last address of all is nobody's
	return all
}

// find returns the index of the range that has addr; -1 if there is none.
func (c cover) find(addr uint64) int {
	i := sort.Search(len(c), func(i int) bool { return c[i].last >= addr })
	if i < len(c) && addr >= c[i].first {
		return c[i].index
	}
	return -1
}

// pieces is a heap of pieces, by their index. It implements [heap.Interface].
type pieces []piece

func (p pieces) Len() int           { return len(p) }
func (p pieces) Less(i, j int) bool { return p[i].index < p[j].index }
func (p pieces) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pieces) Push(x any)        { *p = append(*p, x.(piece)) }
func (p *pieces) Pop() (x any) {
	last := len(*p) - 1
	x, *p = (*p)[last], (*p)[:last]
	return x
}
