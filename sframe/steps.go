package sframe

import (
	"math/bits"
	"sync/atomic"
)

// steps remember where a search has to look, so that a look-up starts with a few
// FDEs instead of the whole table: the text of a sorted section is divided into
// equal ranges of addresses, and a range is filled in when a PC in it is looked up
// for the first time. They are made by the first look-up.
type steps struct {
	first int64 // start of FDE 0, relative to the section
	shift uint8 // of an address's distance from first, to its range
	// at has 1 + the last FDE that starts at or before the beginning of each
	// range, or 0 where that is not known yet; one more ends the last range.
	at []atomic.Uint32
}

const (
	fdesPerStep = 4    // as long as there are no more than
	maxSteps    = 4096 // ranges: 16 KiB, whatever the size of the section
)

// newSteps divides the text of a sorted section that has an FDE. Of several
// look-ups that come first at the same time, one makes them for all.
func (s *Section) newSteps() *steps {
	n := uint64(1) << min(bits.Len32((s.NumFDEs-1)/fdesPerStep), bits.Len(maxSteps-1))
	first, _ := s.startAndSize(0)
	last, _ := s.startAndSize(int(s.NumFDEs) - 1)
	st := &steps{first: first, shift: uint8(bits.Len64(uint64(last-first) / n)), at: make([]atomic.Uint32, n+1)}
	st.at[n].Store(s.NumFDEs)
	s.steps.CompareAndSwap(nil, st)
	return s.steps.Load()
}

// lastStart returns the last FDE of a sorted section that starts at or before
// rel, or any other one if there is none. The section has an FDE.
func (s *Section) lastStart(rel int64) int {
	st := s.steps.Load()
	if st == nil {
		st = s.newSteps()
	}
	// What lies before the first FDE or behind the last one falls into the last
	// range, and is found to be covered by none there.
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

// fillStep finds the value of st.at[i], and keeps it.
func (s *Section) fillStep(st *steps, i uint64) uint32 {
	v := st.at[i].Load()
	if v == 0 {
		v = uint32(s.search(st.first+int64(i<<st.shift), 0, int(s.NumFDEs))) + 1
		st.at[i].Store(v)
	}
	return v
}
