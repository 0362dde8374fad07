package sframe

import (
	"cmp"
	"slices"
	"sort"
)

// An indexEntry has the start of an FDE, relative to the section, and its position. It takes 16
// bytes, as many as the smallest FDE.
type indexEntry struct {
	start int64
	fde   uint32
}

// findIndexed is findFDE for a section that is not sorted, such as the output of "ld -r". The first
// look-up builds the index.
func (s *Section) findIndexed(rel int64) (i int, start int64, size uint32) {
	if i = s.lastIndexed(rel); i < 0 {
		return -1, 0, 0
	}
	start, size = s.startAndSize(i)
	if uint64(rel-start) >= uint64(size) {
		return -1, 0, 0
	}
	return i, start, size
}

// lastIndexed returns the last FDE that starts at or before rel, -1 if there is none.
func (s *Section) lastIndexed(rel int64) int {
	s.indexOnce.Do(func() {
		index := make([]indexEntry, 0, s.NumFDEs)
		for i := range int(s.NumFDEs) {
			if start, size := s.startAndSize(i); size != 0 {
				index = append(index, indexEntry{start, uint32(i)})
			}
		}
		slices.SortFunc(index, func(a, b indexEntry) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.fde, b.fde))
		})
		s.index = index
	})
	at := sort.Search(len(s.index), func(i int) bool { return s.index[i].start > rel }) - 1
	if at < 0 {
		return -1
	}
	return int(s.index[at].fde)
}
