package frame

import (
	"iter"
	"slices"
)

// A deep stack can have more frames than there is memory for. Who takes them one after the
// other, and looks at none twice, lets the inner ones go: of those, the stack keeps the
// outermost alone, with the registers of its PREVIOUS, and where they all were (see visited).

// keptFrames is how many frames a stack that lets frames go keeps at least: a power of two.
// The rooms of twice as many are in use.
const keptFrames = 1 << 11

// AllOnce yields the frames from the innermost outwards, as [Stack.All] does, and lets them
// go: the memory that the stack takes does not grow with its depth. A frame may be used until
// the next one is yielded, but for its ID, which is a value. Of a frame's inner ones only some
// thousand are still there: [Frame.Next] of the innermost of them is nil. Who asks for an inner
// frame by its level, or for all of them, afterwards has the stack made anew; what the frames
// were must not be used any more then.
func (s *Stack) AllOnce() iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		defer s.dropInnerFrames()()
		s.All()(yield)
	}
}

// dropInnerFrames has s let inner frames go until the function that it returns is called.
func (s *Stack) dropInnerFrames() (end func()) {
	before := s.dropsInner
	s.dropsInner = true
	return func() { s.dropsInner = before }
}

// dropInner lets go of all frames but the outer keptFrames. THIS, which is about to have a
// PREVIOUS, is the outermost.
func (s *Stack) dropInner() {
	first := s.made - keptFrames
	this, next := s.frame(first), s.frame(first-1)
	late := s.window.late // what is read here is asked for by nobody
	values := make([]Value, len(s.arch.Regs))
	for i := range values {
		values[i] = this.Register(s.arch.Regs[i].Num)
	}
	s.window.late = late
	s.visited.add(s, first-1)
	s.lastDropped = *next
	s.lastDropped.next, s.lastDropped.values, s.lastDropped.later, s.lastDropped.dropped = nil, &values, nil, true
	this.next = &s.lastDropped
	n := (first - s.nDropped) / slabFrames
	s.slabs = slices.Concat(s.slabs[n:], s.slabs[:n])
	s.nDropped = first
	// Who begins at the sentinel again has the stack made anew.
	s.sentinel.asked, s.sentinel.prev = false, nil
}

// rewind has s make its frames anew.
func (s *Stack) rewind() { s.start(s.window.memory) }

// last returns the outermost frame that was made, or the sentinel.
func (s *Stack) last() *Frame {
	if s.made == 0 {
		return &s.sentinel
	}
	return s.frame(s.made - 1)
}
