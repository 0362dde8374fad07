package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
)

const (
	// usualFrames bounds the frames of all threads together if the user gives no --max-frames. A
	// process can make stacks of a hundred million frames.
	usualFrames = 1 << 21
	// leastFrames is how many frames of each thread are shown, however many the others have.
	leastFrames = 64
	// frameShare is how many frames a thread takes of the allowance at once, textShare how many
	// bytes of text.
	frameShare = 1 << 10
	textShare  = 16 << 10
	// firstText is how many bytes are kept for each of a thread's first leastFrames, up to half of
	// all: other frames do not take these.
	firstText = 256
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

// allowance is what may be shown of all threads together. nil is no bound.
type allowance struct {
	frames atomic.Int64 // that are left
	text   atomic.Int64 // bytes that are left
	first  int64        // bytes of text that each thread's first leastFrames alone may take
}

// allowance returns what may be shown of all threads of s, of which there are n.
func (w *walkFlags) allowance(s *source, n int) *allowance {
	if w.framesGiven || w.maxFrames > 0 {
		return nil
	}
	a := &allowance{first: min(int64(n)*leastFrames*firstText, w.mostText(s)/2)}
	a.frames.Store(int64(cmp.Or(w.usual, w.most())))
	a.text.Store(w.mostText(s))
	return a
}

// limit limits a stack to the frames that are left. Other walkers take of these at the same time.
func (a *allowance) limit(s *frame.Stack) {
	if a != nil {
		s.Limit = leastFrames + int(max(a.frames.Load(), 0))
	}
}

// share is the part of an allowance that one thread has taken.
type share struct {
	of     *allowance
	frames int // that were taken, and are not shown
	text   int // bytes that were taken, and are not written
	spent  bool
	cut    bool // a frame was not shown
}

func (a *allowance) share() share { return share{of: a} }

// has reports whether the thread may have one more frame, at a level. It takes more of the allowance if
// need be.
func (s *share) has(level int) bool {
	if s.of == nil {
		return true
	}
	least := s.of.first
	switch {
	case level < leastFrames:
		least = 0
	case s.frames > 0:
		s.frames--
	case s.of.frames.Add(-frameShare) < 0:
		s.spent = true
	default:
		s.frames = frameShare - 1
	}
	s.cut = s.spent || s.of.text.Load() < least
	return !s.cut
}

// wrote takes the text of the last frame off the allowance, bytes.
func (s *share) wrote(text int) {
	if s.of == nil {
		return
	}
	if s.text -= text; s.text < 0 {
		more := (-s.text/textShare + 1) * textShare
		s.text += more
		s.spent = s.of.text.Add(-int64(more)) < 0
	}
}

// end gives back what the thread has not used.
func (s *share) end() {
	if s.of != nil {
		s.of.frames.Add(int64(s.frames))
		s.of.text.Add(int64(s.text))
	}
}

// fitting returns the outermost ones of a walked stack's frames, as many as the allowance has room
// for. th says so if these are not all.
func (w *walker) fitting(th *thread, frames []frameEntry) []frameEntry {
	if w.frames == nil {
		return frames
	}
	for i := range slices.Backward(frames) {
		if w.frames.text.Add(-int64(textOf(frames[i:i+1]))) < 0 {
			w.cut(th)
			return frames[i+1:]
		}
	}
	return frames
}

// cut says in th that the allowance was spent.
func (w *walker) cut(th *thread) {
	th.Stop, th.whole, th.cut = frame.Limit.String(), false, true
	th.detail = fmt.Sprintf("%d frames of all threads together are shown, or %d MiB of text; --max-frames 0 shows all", w.flags.most(), w.flags.mostText(w.target)>>20)
	th.Error = "stack ends at the usual limit: " + th.detail
}

// most is the usual bound of frames.
func (w *walkFlags) most() int {
	if w.many.any() {
		return gatheredFrames
	}
	return usualFrames
}

// mostText is the usual bound of the text of s, bytes.
func (w *walkFlags) mostText(s *source) int64 {
	if w.many.any() {
		return gatheredText + s.input/4 // each byte takes several
	}
	return cmdline.UsualText + s.input
}

// entryText is what a frame without a physical one of its own counts as, bytes of text: its room in
// memory.
const entryText = 256

// textOf returns how much text the frames of one place have, bytes, about: where they are kept
// until all are walked.
func textOf(frames []frameEntry) int {
	bytes := entryText * max(0, len(frames)-1)
	for i := range frames {
		f := &frames[i]
		bytes += len(f.Function) + len(f.File) + len(f.Module)
	}
	return bytes
}
