package interval

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// First returns a map in which each address has the value of the first range in the list that holds
// it. It has at most twice as many ranges. Empty ones are left out. It takes the list's memory.
func First[T any](list []Entry[T]) Map[T] {
	list = slices.DeleteFunc(list, func(e Entry[T]) bool { return e.Lo >= e.Hi })
	ascending := true
	for i := 1; i < len(list); i++ {
		ascending = ascending && list[i-1].Hi <= list[i].Lo
	}
	if ascending {
		return Map[T]{list} // as compilers write them
	}
	ranks := make([]int32, len(list)) // by where they begin
	for i := range ranks {
		ranks[i] = int32(i)
	}
	slices.SortStableFunc(ranks, func(a, b int32) int { return cmp.Compare(list[a].Lo, list[b].Lo) })
	var all []Entry[T]
	var open begun
	last := int32(-1) // of all
	from := uint64(0)
	// advance gives away the addresses [from, to).
	advance := func(to uint64) {
		for len(open) > 0 && from < to {
			rank := open[0]
			best := &list[rank]
			if best.Hi <= from {
				heap.Pop(&open)
				continue
			}
			end := min(best.Hi, to)
			if n := len(all); last == rank && all[n-1].Hi == from {
				all[n-1].Hi = end
			} else {
				all, last = append(all, Entry[T]{from, end, best.Value}), rank
			}
			from = end
		}
		from = to
	}
	for _, rank := range ranks {
		advance(list[rank].Lo)
		heap.Push(&open, rank)
	}
	advance(math.MaxUint64)
	return Map[T]{all}
}

// begun are the ranks of ranges that have begun, a heap with the first on top. It implements
// [heap.Interface].
type begun []int32

func (b begun) Len() int           { return len(b) }
func (b begun) Less(i, j int) bool { return b[i] < b[j] }
func (b begun) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *begun) Push(x any)        { *b = append(*b, x.(int32)) }
func (b *begun) Pop() (x any) {
	last := len(*b) - 1
	x, *b = (*b)[last], (*b)[:last]
	return x
}
