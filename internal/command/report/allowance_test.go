package report

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
)

// A thread takes what it shows off the allowance, and gives back what it has taken beyond that.
func TestShare(t *testing.T) {
	const text, long = 100, 256 << 10
	a := (&Flags{UsualFrames: 5000}).NewAllowance(1, 100)
	room := cmdline.UsualText + int64(1)
	for _, frames := range []int{10, 65, 1000, 3} {
		before, beforeText := a.frames.Load(), a.text.Load()
		s := a.Share()
		for level := range frames {
			if !s.Has(level) {
				t.Fatalf("frame %d of %d is refused", level, frames)
			}
			s.Wrote(text)
		}
		s.End()
		least := int64(min(frames, LeastFrames))
		if n := before - a.frames.Load(); n != int64(frames)-least {
			t.Errorf("%d frames take %d of the allowance", frames, n)
		}
		if n := beforeText - a.text.Load(); n != int64(frames)*text {
			t.Errorf("%d frames take %d bytes", frames, n)
		}
	}
	// One thread with long names takes all text but what is kept for the first frames of a hundred.
	left := func() int64 { return a.text.Load() }
	s := a.Share()
	for n := 0; s.Has(n); n++ {
		s.Wrote(long)
	}
	s.End()
	if kept := int64(100 * LeastFrames * firstText); left() > kept || left() < kept-long-textShare {
		t.Errorf("one thread leaves %d bytes to the others", left())
	}
	if s = a.Share(); !s.Has(0) {
		t.Error("another thread has no frame")
	}
	for level := 0; s.Has(level); level++ {
		s.Wrote(long)
	}
	s.End()
	if left() < -long-textShare {
		t.Errorf("%d bytes of text are written, more than %d", room-left(), room)
	}
	if s = a.Share(); s.Has(0) {
		t.Error("a thread may write when all text is written")
	}
	// All keep no more than half of it, however many they are.
	if a := (&Flags{}).NewAllowance(0, 1<<20); a.first != cmdline.UsualText/2 {
		t.Errorf("%d bytes are kept for the first frames", a.first)
	}
	if s = (*allowance)(nil).Share(); !s.Has(1 << 30) {
		t.Error("the user's own bound is another's")
	}
}
