package sframe

import (
	"math/bits"
	"sort"
	"sync/atomic"
)

// steps narrow the search of a sorted section, so that a look-up starts with a few FDEs instead of
// the whole table. They divide the section's text into equal ranges of addresses. A range is filled
// in when a PC in it is looked up for the first time. The first look-up in the section makes the
// steps.
type steps struct {
	first int64 // start of FDE 0, relative to the section
	shift uint8 // (address - first) >> shift is the address's range
	// at has for each range 1 + the last FDE that starts at or before the range's beginning, or 0
	// if that is not known yet. One more element ends the last range.
	at []atomic.Uint32
}

const (
	fdesPerStep = 4    // average number of FDEs in a range, at most, until there are maxSteps ranges
	maxSteps    = 4096 // ranges at most: 16 KiB, whatever the size of the section
)

// newSteps divides the text of a sorted section that has an FDE. If several first look-ups run at
// the same time, all use the steps of one of them.
func (s *Section) newSteps() *steps {
	n := uint64(1) << min(bits.Len32((s.NumFDEs-1)/fdesPerStep), bits.Len(maxSteps-1))
	first, _ := s.startAndSize(0)
	last, _ := s.startAndSize(int(s.NumFDEs) - 1)
	st := &steps{first: first, shift: uint8(bits.Len64(uint64(last-first) / n)), at: make([]atomic.Uint32, n+1)}
	st.at[n].Store(s.NumFDEs)
	s.steps.CompareAndSwap(nil, st)
	return s.steps.Load()
}

// lastStart returns the last FDE of a sorted section that starts at or before rel, or any FDE if
// none does. The section has an FDE.
func (s *Section) lastStart(rel int64) int {
	if s.paged {
		return s.lastPaged(rel)
	}
	st := s.steps.Load()
	if st == nil {
		st = s.newSteps()
	}
	// An address before the first FDE or behind the last one falls into the last range. No FDE
	// there covers it.
	i := min(uint64(rel-st.first)>>(st.shift&63), uint64(len(st.at)-2))
	lo, hi := st.at[i].Load(), st.at[i+1].Load()
	if lo == 0 || hi == 0 {
		lo, hi = s.fillStep(st, i), s.fillStep(st, i+1)
	}
	if hi <= lo {
		return int(lo) - 1
	}
	return s.search(rel, int(lo)-1, int(hi-lo)+1)
}

// lastPaged is lastStart for a section that is read page by page. It reads few pages: steps are all
// over the section.
func (s *Section) lastPaged(rel int64) int {
	return max(0, sort.Search(int(s.NumFDEs), func(i int) bool {
		start, _ := s.startAndSize(i)
		return start > rel
	})-1)
}

// fillStep finds the value of st.at[i], and keeps it.
func (s *Section) fillStep(st *steps, i uint64) uint32 {
	v := st.at[i].Load()
	if v == 0 {
		v = uint32(s.search(st.first+int64(i<<st.shift), 0, int(s.NumFDEs))) + 1
		st.at[i].Store(v)
	}
	return v
}
