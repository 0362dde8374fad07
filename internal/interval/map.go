package interval

import (
	"iter"
	"slices"
	"sort"
)

// Map holds a value for each of some ranges of addresses, which do not overlap.
type Map[T any] struct{ list []Entry[T] } // ascending

// Len returns the number of ranges.
func (m *Map[T]) Len() int { return len(m.list) }

// All yields the ranges in ascending order.
func (m *Map[T]) All() iter.Seq[Entry[T]] { return slices.Values(m.list) }

// Find returns the range that holds addr. The pointer is valid until the next Put.
func (m *Map[T]) Find(addr uint64) (*Entry[T], bool) {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].Hi > addr })
	if i < len(m.list) && addr >= m.list[i].Lo {
		return &m.list[i], true
	}
	return nil, false
}

// Put gives [lo, hi), which is not empty, a value. It replaces the values of the ranges, and of
// the parts of ranges, that were there.
func (m *Map[T]) Put(lo, hi uint64, value T) {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].Hi > lo })
	j := i
	var room [3]Entry[T]
	parts := room[:0]
	for ; j < len(m.list) && m.list[j].Lo < hi; j++ {
		if x := m.list[j]; x.Lo < lo {
			parts = append(parts, Entry[T]{x.Lo, lo, x.Value})
		}
	}
	parts = append(parts, Entry[T]{lo, hi, value})
	if j > i {
		if x := m.list[j-1]; x.Hi > hi {
			parts = append(parts, Entry[T]{hi, x.Hi, x.Value})
		}
	}
	// Mostly there is nothing in the place, or as much.
	if grow := len(parts) - (j - i); grow > 0 {
		m.list = append(m.list, make([]Entry[T], grow)...)
		copy(m.list[j+grow:], m.list[j:])
	} else if grow < 0 {
		copy(m.list[j+grow:], m.list[j:])
		clear(m.list[len(m.list)+grow:])
		m.list = m.list[:len(m.list)+grow]
	}
	copy(m.list[i:], parts)
}
