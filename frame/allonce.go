package frame

import (
	"iter"
	"slices"
)

// A deep stack can have more frames than there is memory for. Who takes them one after the
// other, and looks at none twice, lets the inner ones go: of those, the stack keeps the
// outermost alone, with the registers of its PREVIOUS, and where they all were (see left).

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
		defer s.letGo()()
		s.All()(yield)
	}
}

// letGo has s let inner frames go until the function that it returns is called.
func (s *Stack) letGo() (end func()) {
	before := s.forgets
	s.forgets = true
	return func() { s.forgets = before }
}

// forget lets go of all frames but the outer keptFrames. THIS, which is about to have a
// PREVIOUS, is the outermost.
func (s *Stack) forget() {
	first := s.made - keptFrames
	this, next := s.frame(first), s.frame(first-1)
	late := s.window.late // what is read here is asked for by nobody
	values := make([]Value, len(s.arch.Regs))
	for i := range values {
		values[i] = this.Register(s.arch.Regs[i].Num)
	}
	s.window.late = late
	s.left.add(s, first-1)
	s.edge = *next
	s.edge.next, s.edge.values, s.edge.later, s.edge.forgotten = nil, &values, nil, true
	this.next = &s.edge
	n := (first - s.gone) / slabFrames
	s.slabs = slices.Concat(s.slabs[n:], s.slabs[:n])
	s.gone = first
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
