package command

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
)

const (
	// usualFrames is how many frames of all threads together are shown where the user has not
	// said how many of each (--max-frames): a process can make stacks of a hundred million.
	usualFrames = 1 << 21
	// leastFrames is how many of each thread are shown, whatever the others have had.
	leastFrames = 64
	// frameShare is how many more a thread takes of what is left at once.
	frameShare = 1 << 10
)

// usualSearch is how many bytes of code without tables each of several walkers may look at
// for all its stacks together: see frame.Stack.Search. What one has learned of a place in the
// code the others learn once more.
const usualSearch = 2 * frame.DefaultSearch

// allowance is how much may be spent yet on all threads together: frames, and code that is
// searched. It is nil where each thread may have as much as it likes.
type allowance struct{ left, search atomic.Int64 }

// allowance returns what the flags allow of one walk over all threads, by so many walkers.
func (w *walkFlags) allowance(walkers int) *allowance {
	if w.framesGiven || w.maxFrames > 0 {
		return nil
	}
	a := &allowance{}
	a.search.Store(int64(walkers) * usualSearch)
	a.left.Store(int64(cmp.Or(w.usual, usualFrames)))
	return a
}

// limit limits a stack to what is left: others take of that at the same time.
func (a *allowance) limit(s *frame.Stack) {
	if a != nil {
		s.Limit = leastFrames + int(max(a.left.Load(), 0))
		if s.Search = min(a.search.Load(), frame.DefaultSearch); s.Search <= 0 {
			s.Search = -1
		}
	}
}

// walked notes what a stack has taken that had looked at so many bytes before.
func (a *allowance) walked(s *frame.Stack, before int64) {
	if a != nil {
		a.search.Add(before - s.Searched())
	}
}

// share is what one thread has taken of an allowance.
type share struct {
	of    *allowance
	until int // level of the first frame that it does not have
	spent bool
}

func (a *allowance) share() share { return share{of: a, until: leastFrames} }

// has reports whether the thread may have a frame at a level, and takes more if need be.
func (s *share) has(level int) bool {
	if s.of == nil || level < s.until {
		return true
	}
	if s.of.left.Add(-frameShare) < 0 {
		s.spent = true
		return false
	}
	s.until += frameShare
	return true
}

// spentText says why a stack is not shown to its end.
var spentText = fmt.Sprintf("%d frames of all threads together are shown; --max-frames 0 shows all", usualFrames)
