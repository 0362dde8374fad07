package sframe

import (
	"math/bits"
	"sync/atomic"
)

// steps remember where a search has to look, so that a look-up starts with a few
// FDEs instead of the whole table: the text of a sorted section is divided into
// equal ranges of addresses, and a range is filled in when a PC in it is looked up
// for the first time.
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

// initSteps divides the text of a sorted section that has an FDE.
func (s *Section) initSteps() {
	n := uint64(1) << min(bits.Len32((s.NumFDEs-1)/fdesPerStep), bits.Len(maxSteps-1))
	first, _ := s.startAndSize(0)
	last, _ := s.startAndSize(int(s.NumFDEs) - 1)
	s.steps.first = first
	s.steps.shift = uint8(bits.Len64(uint64(last-first) / n))
	s.steps.at = make([]atomic.Uint32, n+1)
	s.steps.at[n].Store(s.NumFDEs)
}

// lastStart returns the last FDE of a sorted section that starts at or before
// rel, or any other one if there is none. The section has an FDE.
func (s *Section) lastStart(rel int64) int {
	// What lies before the first FDE or behind the last one falls into the last
	// range, and is found to be covered by none there.
	at := s.steps.at
	i := min(uint64(rel-s.steps.first)>>(s.steps.shift&63), uint64(len(at)-2))
	lo, hi := at[i].Load(), at[i+1].Load()
	if lo == 0 || hi == 0 {
		lo, hi = s.fillStep(i), s.fillStep(i+1)
	}
	if hi <= lo {
		return int(lo) - 1
	}
	return s.search(rel, int(lo)-1, int(hi-lo)+1)
}

// fillStep finds the value of steps.at[i], and keeps it.
func (s *Section) fillStep(i uint64) uint32 {
	v := s.steps.at[i].Load()
	if v == 0 {
		v = uint32(s.search(s.steps.first+int64(i<<s.steps.shift), 0, int(s.NumFDEs))) + 1
		s.steps.at[i].Store(v)
	}
	return v
}
