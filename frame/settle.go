package frame

import "github.com/sfwalk/sfwalk/target"

// maxRetakes is how often a thread is read once more for its stack to be of one moment. One
// that has run on before its own stack was copied is in another place then, and may need
// other memory; and who holds it lets it go when walking takes too long.
const (
	maxRetakes = 6
	maxFails   = 2
	// maxSearch is how much code may be looked at (see Stack.SearchLimit) while a thread is held,
	// for it to be held once more: a held thread cannot wait for that.
	maxSearch = DefaultSearchLimit / 4
)

// Settle sees to it that the frames of s, up to its Limit, are of one moment: where some are
// not (see [Frame.MovedOn]), and the thread can be read once more ([target.RunningThread]), it is,
// and its stack is made anew while it is held. Frames that s had before must not be used any
// more then. Where that does not help, the frames still say so. The error says why the thread
// could not be read once more. Of a deep stack Settle lets frames go ([Stack.AllOnce]); they
// are made once more when they are asked for.
func (s *Stack) Settle() (err error) {
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
			fails++ // perhaps it could not be stopped for a moment
		}
		if failed != nil {
			return failed
		}
	}
	for f := s.last(); f != nil; f, _ = f.Prev() {
	}
	return err
}

// movesOn makes frames up to the first that is of another moment, and reports whether
// there is one.
func (s *Stack) movesOn() bool {
	for f := s.last(); f != nil; f, _ = f.Prev() {
		if f.moved {
			return true
		}
	}
	return s.MovedOn()
}

// MovedOn reports whether a frame that was made is of another moment than the thread's
// registers, or what would lead to one more frame.
func (s *Stack) MovedOn() bool {
	last := s.last()
	return last.moved || last.late
}
