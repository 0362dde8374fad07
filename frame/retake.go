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

// RetakeIfMovedOn walks s up to its Limit. If the frames are not of one moment (see [Frame.MovedOn]),
// and the thread can be read once more ([target.RunningThread]), it reads the thread once more, and
// makes the stack anew while the thread is held. Then frames that s had before must not be used any
// more. If that does not help, the frames still say so. The error says why the thread could not be
// read once more. RetakeIfMovedOn drops inner frames of a deep stack, as [Stack.AllOnce] does; s makes
// them once more when they are asked for.
func (s *Stack) RetakeIfMovedOn() (err error) {
	defer s.dropInnerFrames()()
	moved := s.movesOn()
	r, ok := s.thread.(target.RunningThread)
	for n, fails := 0, 0; ok && moved && n < maxRetakes && fails < maxFails && (n == 0 || s.search.spent < maxSearch); n++ {
		var failed error
		if err = r.Retake(func() {
			if failed = s.Reset(s.target, s.thread); failed == nil {
				moved = s.movesOn()
			}
		}); err != nil {
			fails++ // the next attempt may stop the thread
		}
		if failed != nil {
			return failed
		}
	}
	for f := s.last(); f != nil; f, _ = f.Prev() {
	}
	return err
}

// movesOn makes frames up to the first one of another moment, and reports whether
// there is one.
func (s *Stack) movesOn() bool {
	for f := s.last(); f != nil; f, _ = f.Prev() {
		if f.moved {
			return true
		}
	}
	return s.MovedOn()
}

// MovedOn reports whether a frame that was made, or memory that was read to find the next, is of
// another moment than the thread's registers.
func (s *Stack) MovedOn() bool {
	last := s.last()
	return last.moved || last.late
}
