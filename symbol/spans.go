package symbol

import (
	"cmp"
	"slices"
)

// span is a range of addresses [lo, hi) and whose it is.
type span struct {
	lo, hi uint64
	id     int32
}

// spanSize is how much memory a span takes up, with its place in top and the room to sort, bytes.
const spanSize = 48

// spans finds whose an address is. Ranges may nest and overlap.
type spans struct {
	list []span
	top  []uint64 // highest hi of list[:i+1]
}

// maxTries bounds how many ranges of one address are looked at; real ones nest
// a few deep.
const maxTries = 64

func (s *spans) add(lo, hi uint64, id int32) { s.list = append(s.list, span{lo, hi, id}) }

func compareSpans(a, b span) int {
	return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi), cmp.Compare(a.id, b.id))
}

// sort must be called once, after the last add. Of equal ranges the one that was
// added last is found first, as GDB does with a function's aliases.
func (s *spans) sort() {
	slices.SortFunc(s.list, compareSpans)
	s.list = slices.Clip(s.list)
	s.top = make([]uint64, len(s.list))
	top := uint64(0)
	for i, r := range s.list {
		top = max(top, r.hi)
		s.top[i] = top
	}
}

// find calls yield with each range that holds addr, from the one that begins
// last, until yield returns false.
func (s *spans) find(addr uint64, yield func(span) bool) {
	i, _ := slices.BinarySearchFunc(s.list, addr, func(r span, a uint64) int {
		if r.lo <= a {
			return -1
		}
		return 1
	})
	for tries := 0; i > 0 && s.top[i-1] > addr && tries < maxTries; tries++ {
		i--
		if s.list[i].hi > addr && !yield(s.list[i]) {
			return
		}
	}
}
