package interval

import (
	"cmp"
	"iter"
	"slices"
)

// MaxTries bounds how many ranges [Nested.Find] looks at for one address. Real ranges nest a few
// deep.
const MaxTries = 64

// Nested holds ranges of addresses that may nest and overlap.
type Nested[T cmp.Ordered] struct {
	list []Entry[T]
	top  []uint64 // highest Hi of list[:i+1]
}

// Grow makes room for n more ranges.
func (n *Nested[T]) Grow(more int) { n.list = slices.Grow(n.list, more) }

// Add adds [lo, hi). Find knows of it after Sort.
func (n *Nested[T]) Add(lo, hi uint64, value T) { n.list = append(n.list, Entry[T]{lo, hi, value}) }

// All yields the ranges that were added, in the order of Sort.
func (n *Nested[T]) All() iter.Seq[Entry[T]] { return slices.Values(n.list) }

// Compare orders ranges as [Nested.Sort] does: an outer range before an inner one, and equal
// ranges by value.
func Compare[T cmp.Ordered](a, b Entry[T]) int {
	return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Hi, a.Hi), cmp.Compare(a.Value, b.Value))
}

// Sort must be called once, after the last Add. Find finds the one with the highest value first
// of equal ranges, as GDB does with a function's aliases.
func (n *Nested[T]) Sort() {
	slices.SortFunc(n.list, Compare[T])
	n.list = slices.Clip(n.list)
	n.top = make([]uint64, len(n.list))
	top := uint64(0)
	for i, r := range n.list {
		top = max(top, r.Hi)
		n.top[i] = top
	}
}

// Find calls yield with each range that holds addr, from the one that begins last, until yield
// returns false.
func (n *Nested[T]) Find(addr uint64, yield func(Entry[T]) bool) {
	i, _ := slices.BinarySearchFunc(n.list, addr, func(r Entry[T], a uint64) int {
		if r.Lo <= a {
			return -1
		}
		return 1
	})
	for tries := 0; i > 0 && n.top[i-1] > addr && tries < MaxTries; tries++ {
		i--
		if n.list[i].Hi > addr && !yield(n.list[i]) {
			return
		}
	}
}
