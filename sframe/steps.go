package sframe

import (
	"math/bits"
	"sync/atomic"
)

// numSteps is the number of equal ranges of addresses that a sorted section's text
// is divided into.
const numSteps = 1024

// steps remember where a search for each range has to look, so that a look-up
// in a large section starts with the last few FDEs instead of the whole table. A
// range is filled in when a PC in it is looked up for the first time. The size
// is the same for all sections.
type steps struct {
	first int64 // start of FDE 0, relative to the section
	shift uint8 // of an address's distance from first, to its range
	// at has 1 + the last FDE that starts at or before the beginning of each
	// range, or 0 where that is not known yet.
	at [numSteps + 1]atomic.Uint32
}

// initSteps divides the text of a sorted section that has an FDE.
func (s *Section) initSteps() {
	first, _ := s.startAndSize(0)
	last, _ := s.startAndSize(int(s.NumFDEs) - 1)
	s.steps.first = first
	s.steps.shift = uint8(bits.Len64(uint64(last-first) / numSteps))
	s.steps.at[numSteps].Store(s.NumFDEs)
}

// lastStart returns the last FDE of a sorted section that starts at or before
// rel, or any other one if there is none. The section has an FDE.
func (s *Section) lastStart(rel int64) int {
	// What lies before the first FDE or behind the last one falls into the last
	// range, and is found to be covered by none there.
	i := min(uint64(rel-s.steps.first)>>(s.steps.shift&63), numSteps-1)
	lo, hi := s.steps.at[i].Load(), s.steps.at[i+1].Load()
	if lo == 0 || hi == 0 {
		lo, hi = s.fillStep(i), s.fillStep(i+1)
	}
	if hi <= lo {
		return int(lo) - 1
	}
	first, n := int(lo)-1, int(hi-lo)+1
	if n < 4*near {
		return s.search(rel, first, n)
	}
	// Functions lie evenly enough in a range that most are near the place that
	// the address would have if they were all of the same size.
	part := uint64(rel-s.steps.first) & (1<<(s.steps.shift&63) - 1)
	guess := first + int(uint64(hi-lo)*(part>>8)>>(s.steps.shift-8&63))
	bounds := [...]int{first, max(guess-near, first), guess, min(guess+near, first+n-1), first + n}
	c := -(s.starts(bounds[1], rel) + s.starts(bounds[2], rel) + s.starts(bounds[3], rel)) & 3
	return s.search(rel, bounds[c], max(bounds[c+1]-bounds[c], 1))
}

// near is how many FDEs from its expected place one is looked for first.
const near = 8

// starts returns -1 if FDE i starts at or before rel, else 0.
func (s *Section) starts(i int, rel int64) int {
	rel -= int64(s.fdeBase) & s.pcrel
	if s.Version == V3 {
		return starts64(s.fdes, i*16, rel, int(s.pcrel), s.big)
	}
	return starts32(s.fdes, i*s.fdeSize, rel, int(s.pcrel), s.big)
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
