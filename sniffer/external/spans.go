package external

import "sort"

// spans holds a value for each of some ranges of addresses, which do not overlap.
type spans[T any] struct{ list []span[T] } // ascending

type span[T any] struct {
	lo, hi uint64 // [lo, hi)
	value  T
}

// find returns the span that addr is in.
func (s *spans[T]) find(addr uint64) (*span[T], bool) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].hi > addr })
	if i < len(s.list) && addr >= s.list[i].lo {
		return &s.list[i], true
	}
	return nil, false
}

// put gives [lo, hi), which is not empty, a value. It takes the place of what was there.
func (s *spans[T]) put(lo, hi uint64, value T) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].hi > lo })
	j := i
	var room [3]span[T]
	parts := room[:0]
	for ; j < len(s.list) && s.list[j].lo < hi; j++ {
		if x := s.list[j]; x.lo < lo {
			parts = append(parts, span[T]{x.lo, lo, x.value})
		}
	}
	parts = append(parts, span[T]{lo, hi, value})
	if j > i {
		if x := s.list[j-1]; x.hi > hi {
			parts = append(parts, span[T]{hi, x.hi, x.value})
		}
	}
	// Mostly there is nothing in the place, or as much.
	if grow := len(parts) - (j - i); grow > 0 {
		s.list = append(s.list, make([]span[T], grow)...)
		copy(s.list[j+grow:], s.list[j:])
	} else if grow < 0 {
		copy(s.list[j+grow:], s.list[j:])
		clear(s.list[len(s.list)+grow:])
		s.list = s.list[:len(s.list)+grow]
	}
	copy(s.list[i:], parts)
}
