package command

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
)

const (
	// usualFrames is how many frames of all threads together are shown where the user has not
	// said how many of each (--max-frames): a process can make stacks of a hundred million.
	usualFrames = 1 << 21
	// leastFrames is how many of each thread are shown, whatever the others have had.
	leastFrames = 64
	// frameText is how much text one frame may have, bytes: what is longer counts as more frames.
	frameText = 2 << 10
	// frameShare is how many more a thread takes of what is left at once.
	frameShare = 1 << 10
)

// usualSearch is how many instructions of code without tables may be looked at for all stacks
// together: see frame.Searches. That takes some three seconds of a processor.
const usualSearch = 6 << 20

// searches returns what all walkers of a target have in common.
func (w *walkFlags) searches() *frame.Searches {
	s := &frame.Searches{}
	s.Left.Store(usualSearch)
	if w.framesGiven && w.maxFrames == 0 {
		s.Left.Store(math.MaxInt64)
	}
	return s
}

// allowance is how many frames may be made yet of all threads together. It is nil where each
// thread may have as many as it likes.
type allowance struct{ left atomic.Int64 }

func (w *walkFlags) allowance() *allowance {
	if w.framesGiven || w.maxFrames > 0 {
		return nil
	}
	a := &allowance{}
	a.left.Store(int64(cmp.Or(w.usual, usualFrames)))
	return a
}

// limit limits a stack to what is left: others take of that at the same time.
func (a *allowance) limit(s *frame.Stack) {
	if a != nil {
		s.Limit = leastFrames + int(max(a.left.Load(), 0))
	}
}

// share is what one thread has taken of an allowance.
type share struct {
	of    *allowance
	until int // level of the first frame that it does not have
	more  int // frames that it has had beside those: in place of long text
	spent bool
}

func (a *allowance) share() share { return share{of: a, until: leastFrames} }

// has reports whether the thread may have a frame at a level, and takes more if need be.
func (s *share) has(level int) bool {
	for s.of != nil && level+s.more >= s.until {
		if s.of.left.Add(-frameShare) < 0 {
			s.spent = true
			return false
		}
		s.until += frameShare
	}
	return true
}

// spend takes frames that are not shown.
func (s *share) spend(frames int) { s.more += frames }

// spentText says why a stack is not shown to its end.
var spentText = fmt.Sprintf("%d frames of all threads together are shown, or %d MiB of text; --max-frames 0 shows all", usualFrames, usualFrames*frameText>>20)
