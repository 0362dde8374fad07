package frame

import "github.com/sfwalk/sfwalk/target"

const (
	// maxRetakes is how often a thread is read once more, at most, for its stack to be of one
	// moment. Once is not always enough: the thread may be at another place then, and need other
	// memory, or the target may let it go because the walk takes too long.
	maxRetakes = 6
	// maxFails is how often the thread may fail to be read once more.
	maxFails = 2
	// maxSearch is how much code may be searched (see Stack.SearchLimit) while the thread is held.
	// If it was more, the thread is not held once more: it cannot wait for that.
	maxSearch = DefaultSearchLimit / 4
)

// RetakeIfMovedOn walks s up to its Limit. If the frames are not of one moment (see
// [Frame.MovedOn]), and the thread can be read once more ([target.RunningThread]), it reads the
// thread once more, and makes the stack anew while the thread is held. Then frames that s had
// before must not be used any more. If that does not help, the frames still say so. The error says
// why the thread could not be read once more. Of a deep stack, RetakeIfMovedOn makes the inner
// frames alone, and walks the others as a [Walker] does, or drops them, as [Stack.AllOnce] does; s
// makes them when they are asked for.
func (s *Stack) RetakeIfMovedOn() (err error) {
	defer s.dropInnerFrames()()
	moved := s.movesOn(true)
	r, ok := s.thread.(target.RunningThread)
	for n, fails := 0, 0; ok && moved && n < maxRetakes && fails < maxFails && (n == 0 || s.search.spent < maxSearch); n++ {
		var failed error
		if err = r.Retake(func() {
			if failed = s.Reset(s.target, s.thread); failed == nil {
				moved = s.movesOn(false)
			}
		}); err != nil {
			fails++ // the next attempt may stop the thread
		}
		if failed != nil {
			return failed
		}
	}
	for f := s.last(); f != nil && !f.deep(); f, _ = f.Prev() {
	}
	return err
}

// movesOn makes frames up to the first one of another moment, and reports whether there is one. If
// the thread may run, it makes no frames that the stack would drop: it takes less time, but what is
// read of a thread that is held is kept as it is read, and takes the more memory the faster that
// is.
func (s *Stack) movesOn(runs bool) bool {
	for f := s.last(); f != nil; f, _ = f.Prev() {
		if f.moved {
			return true
		}
		if runs && f.deep() {
			return s.movesOnDeeper()
		}
	}
	return s.MovedOn()
}

// deep reports whether THIS is the last frame before the stack has to drop some, and is not asked
// for PREVIOUS yet.
func (f *Frame) deep() bool { return f.Level == 2*keptFrames-1 && !f.asked }

// MovedOn reports whether a frame that was made, or memory that was read to find the next, is of
// another moment than the thread's registers.
func (s *Stack) MovedOn() bool {
	last := s.last()
	return last.moved || last.late || s.deeper.moved
}
