package command

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
)

const (
	// usualFrames bounds the frames of all threads together if the user gives no --max-frames. A
	// process can make stacks of a hundred million frames.
	usualFrames = 1 << 21
	// leastFrames is how many frames of each thread are shown, whatever the others have used.
	leastFrames = 64
	// frameText is the text of one frame, bytes. Longer text counts as more frames.
	frameText = 2 << 10
	// frameShare is how many frames a thread takes of the allowance at once.
	frameShare = 1 << 10
)

// usualSearch bounds the instructions of code without tables that are searched for all stacks
// together: see [frame.SharedSearches]. That takes some three seconds of a processor.
const usualSearch = 6 << 20

// searches returns the searches that all walkers of a target share.
func (w *walkFlags) searches() *frame.SharedSearches {
	s := &frame.SharedSearches{}
	s.Left.Store(usualSearch)
	if w.framesGiven && w.maxFrames == 0 {
		s.Left.Store(math.MaxInt64)
	}
	return s
}

// allowance is how many more frames of all threads together may be made. nil is no bound.
type allowance struct{ left atomic.Int64 }

func (w *walkFlags) allowance() *allowance {
	if w.framesGiven || w.maxFrames > 0 {
		return nil
	}
	a := &allowance{}
	a.left.Store(int64(cmp.Or(w.usual, w.most())))
	return a
}

// limit limits a stack to the frames that are left. Other walkers take of these at the same time.
func (a *allowance) limit(s *frame.Stack) {
	if a != nil {
		s.Limit = leastFrames + int(max(a.left.Load(), 0))
	}
}

// share is the part of an allowance that one thread has taken.
type share struct {
	of    *allowance
	until int // level of the first frame beyond the share
	more  int // frames taken for long text
	spent bool
}

func (a *allowance) share() share { return share{of: a, until: leastFrames} }

// has reports whether the thread may have a frame at a level. It takes more of the allowance if
// need be.
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

// spend takes frames for long text.
func (s *share) spend(frames int) { s.more += frames }

// most is the usual bound of frames.
func (w *walkFlags) most() int {
	if w.many.any() {
		return gatheredFrames
	}
	return usualFrames
}

// spentText says that the allowance is spent.
func (w *walkFlags) spentText() string {
	return fmt.Sprintf("%d frames of all threads together are shown, or %d MiB of text; --max-frames 0 shows all", w.most(), w.most()*frameText>>20)
}
