package frame

import (
	"iter"
	"slices"
)

// A deep stack can have more frames than there is memory for. AllOnce takes them one after the
// other and drops the inner ones. Of these, the stack keeps only the
// outermost, with the registers of its PREVIOUS, and where they all were (see visited).

// keptFrames is how many frames a stack that drops frames keeps at least: a power of two.
// It has memory for twice as many.
const keptFrames = 1 << 11

// AllOnce yields the frames from the innermost outwards, as [Stack.All] does, and drops them, so
// that the stack's memory does not grow with its depth. A frame may be used until the next one is
// yielded; its ID is a value, and may be kept. Of a frame's inner frames only some two thousand are
// still there: [Frame.Next] of the innermost of them is nil. If frames were dropped, a later call
// of [Stack.Frame], Stack.All or AllOnce makes all frames anew; the frames before must not be used
// then.
func (s *Stack) AllOnce() iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		defer s.dropInnerFrames()()
		s.All()(yield)
	}
}

// dropInnerFrames makes s drop inner frames until the function that it returns is called.
func (s *Stack) dropInnerFrames() (end func()) {
	before := s.dropsInner
	s.dropsInner = true
	return func() { s.dropsInner = before }
}

// dropInner drops all frames but the outer keptFrames.
func (s *Stack) dropInner() {
	first := s.made - keptFrames
	this, next := s.frame(first), s.frame(first-1)
	late := s.window.late // does not depend on what is read here
	values := make([]Value, len(s.arch.Regs))
	for i := range values {
		values[i] = this.Register(s.arch.Regs[i].Num)
	}
	s.window.late = late
	s.visited.add(s, first-1)
	s.lastDropped = *next
	if s.slots != nil {
		for level := s.nDropped; level < first; level++ {
			s.dropSlots(s.frame(level))
		}
	}
	s.lastDropped.next, s.lastDropped.values, s.lastDropped.later, s.lastDropped.dropped = nil, &values, nil, true
	this.next = &s.lastDropped
	n := (first - s.nDropped) / slabFrames
	s.slabs = slices.Concat(s.slabs[n:], s.slabs[:n])
	s.nDropped = first
	// A walk that begins at the sentinel again makes the stack anew.
	s.sentinel.asked, s.sentinel.prev = false, nil
}

// rewind drops all frames, and what was read.
func (s *Stack) rewind() { s.start(s.window.memory) }

// last returns the outermost frame that was made, or the sentinel.
func (s *Stack) last() *Frame {
	if s.made == 0 {
		return &s.sentinel
	}
	return s.frame(s.made - 1)
}
