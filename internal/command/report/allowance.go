package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/language"
)

const (
	// usualFrames bounds the frames of all threads together if the user gives no --max-frames. A
	// process can make stacks of a hundred million frames.
	usualFrames = 1 << 21
	// LeastFrames is how many frames of each thread are shown, however many the others have.
	LeastFrames = 64
	// FrameShare is how many frames a thread takes of the allowance at once, textShare how many
	// bytes of text.
	FrameShare = 1 << 10
	textShare  = 16 << 10
	// firstText is how many bytes are kept for each of a thread's first LeastFrames, up to half of
	// all: other frames do not take these.
	firstText = 256
)

// usualSearch bounds the instructions of code without tables that are searched for all stacks
// together: see [frame.SharedSearches]. That takes some three seconds of a processor.
const usualSearch = 6 << 20

// searches returns the searches that all walkers of a target share.
func (w *Flags) searches() *frame.SharedSearches {
	s := &frame.SharedSearches{}
	s.Left.Store(usualSearch)
	if w.FramesGiven && w.MaxFrames == 0 {
		s.Left.Store(math.MaxInt64)
	}
	return s
}

// NewAllowance is what may be shown of all threads together. nil is no bound.
type allowance struct {
	frames atomic.Int64 // that are left
	text   atomic.Int64 // bytes that are left
	first  int64        // bytes of text that each thread's first LeastFrames alone may take

	mostFrames int
	mostText   int64 // bytes
}

// NewAllowance returns what may be shown of all threads of a target, of which there are n. size is
// the size of the target: see [Origin].
func (w *Flags) NewAllowance(size int64, n int) *allowance {
	if w.FramesGiven || w.MaxFrames > 0 {
		return nil
	}
	most := w.mostText(size)
	a := &allowance{first: min(int64(n)*LeastFrames*firstText, most/2), mostFrames: w.most(), mostText: most}
	a.frames.Store(int64(cmp.Or(w.UsualFrames, w.most())))
	a.text.Store(most)
	return a
}

// limit limits a stack to the frames that are left. Other walkers take of these at the same time.
func (a *allowance) limit(s *frame.Stack) {
	if a != nil {
		s.Limit = LeastFrames + int(max(a.frames.Load(), 0))
	}
}

// Share is the part of an allowance that one thread has taken.
type share struct {
	of     *allowance
	frames int // that were taken, and are not shown
	text   int // bytes that were taken, and are not written
	spent  bool
	cut    bool // a frame was not shown

	languages int // frames of languages that were taken
	ahead     int // bytes that were taken for such frames, before they are written
}

func (a *allowance) Share() share { return share{of: a} }

// Has reports whether the thread may have one more frame, at a level. It takes more of the
// allowance if need be.
func (s *share) Has(level int) bool {
	if s.of == nil {
		return true
	}
	least := s.of.first
	switch {
	case level < LeastFrames:
		least = 0
	case s.frames > 0:
		s.frames--
	case s.of.frames.Add(-FrameShare) < 0:
		s.spent = true
	default:
		s.frames = FrameShare - 1
	}
	s.cut = s.spent || s.of.text.Load() < least
	return !s.cut
}

// fit returns how many of a language's frames the thread may have, all of which stand at one level.
// It takes them off the allowance, each with its text and each bytes.
func (s *share) fit(frames []language.Placed, each int) int {
	if s == nil || s.of == nil {
		return len(frames)
	}
	for i := range frames {
		if s.languages >= LeastFrames && (s.of.text.Load() < s.of.first || s.of.frames.Add(-1) < 0) {
			return i
		}
		s.languages++
		text := each + textOfLanguage(&frames[i].Frame)
		s.take(text)
		s.ahead += text
	}
	return len(frames)
}

// Wrote takes the text of the last frame off the allowance, bytes, with the text of the frames of
// languages there.
func (s *share) Wrote(text int) {
	s.take(text - s.ahead)
	s.ahead = 0
}

func (s *share) take(text int) {
	if s.of == nil {
		return
	}
	if s.text -= text; s.text < 0 {
		more := (-s.text/textShare + 1) * textShare
		s.text += more
		s.spent = s.of.text.Add(-int64(more)) < 0
	}
}

// End gives back what the thread has not used.
func (s *share) End() {
	if s.of != nil {
		s.of.frames.Add(int64(s.frames))
		s.of.text.Add(int64(s.text))
	}
}

// fitting returns the outermost ones of a walked stack's frames, as many as the allowance has room
// for. th says so if these are not all.
func (w *Walker) fitting(th *Thread, frames []Frame) []Frame {
	if w.Allowance == nil {
		return frames
	}
	for i := range slices.Backward(frames) {
		if w.Allowance.text.Add(-int64(textOf(frames[i:i+1]))) < 0 {
			w.Allowance.CutShort(th)
			return frames[i+1:]
		}
	}
	return frames
}

// CutShort says in th that the allowance was spent.
func (a *allowance) CutShort(th *Thread) {
	th.Stop, th.Whole, th.Cut = frame.Limit.String(), false, true
	th.Detail = fmt.Sprintf("%d frames of all threads together are shown, or %d MiB of text; --max-frames 0 shows all", a.mostFrames, a.mostText>>20)
	th.Error = "stack ends at the usual limit: " + th.Detail
}

// most is the usual bound of frames.
func (w *Flags) most() int {
	if w.Sum.Any() {
		return gatheredFrames
	}
	return usualFrames
}

// mostText is the usual bound of the text of a target of a size, bytes.
func (w *Flags) mostText(size int64) int64 {
	if w.Sum.Any() {
		return gatheredText + size/4 // each byte takes several
	}
	return cmdline.UsualText + size
}

// entryText is what a frame without a physical one of its own counts as, bytes of text: its room in
// memory, or in JSON, beside its names.
const entryText = 256

// textOfLanguage returns how much text a frame of a language has, bytes.
func textOfLanguage(f *language.Frame) int {
	bytes := len(f.Function) + len(f.File) + len(f.Kind)
	for _, list := range [...][]language.Variable{f.Args, f.Locals} {
		for i := range list {
			bytes += len(list[i].Name) + len(list[i].Type) + len(list[i].Value)
		}
	}
	return bytes
}

// textOf returns how much text the frames of one place have, bytes, about: where they are kept
// until all are walked.
func textOf(frames []Frame) int {
	bytes := entryText * max(0, len(frames)-1)
	for i := range frames {
		f := &frames[i]
		bytes += len(f.Function) + len(f.File) + len(f.Module)
	}
	return bytes
}
