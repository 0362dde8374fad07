package frame

import "github.com/sfwalk/sfwalk/target"

// maxRetakes is how often a thread is read once more for its stack to be of one moment. One
// that has run on before its own stack was copied is in another place then, and may need
// other memory; and who holds it lets it go when walking takes too long.
const (
	maxRetakes = 6
	maxFails   = 2
)

// Settle makes all frames of s, up to its Limit, and sees to it that they are of one
// moment: where some are not (see [Frame.MovedOn]), and the thread can be read once more
// ([target.Runner]), it is, and its stack is made anew while it is held. Frames that s had
// before must not be used any more then. Where that does not help, the frames still say
// so. The error says why the thread could not be read once more.
func (s *Stack) Settle() (err error) {
	r, ok := s.thread.(target.Runner)
	for n, fails := 0, 0; ok && n < maxRetakes && fails < maxFails && s.movesOn(); n++ {
		var failed error
		if err = r.Retake(func() {
			if failed = s.Reset(s.target, s.thread); failed == nil {
				s.movesOn()
			}
		}); err != nil {
			fails++ // perhaps it could not be stopped for a moment
		}
		if failed != nil {
			return failed
		}
	}
	for f := &s.sentinel; f != nil; f, _ = f.Prev() {
	}
	return err
}

// movesOn makes frames up to the first that is of another moment, and reports whether
// there is one.
func (s *Stack) movesOn() bool {
	for f := &s.sentinel; f != nil; f, _ = f.Prev() {
		if f.moved {
			return true
		}
	}
	return s.MovedOn()
}

// MovedOn reports whether a frame that was made is of another moment than the thread's
// registers, or what would lead to one more frame.
func (s *Stack) MovedOn() bool {
	if s.made == 0 {
		return false
	}
	last := s.frame(s.made - 1)
	return last.moved || last.late
}
