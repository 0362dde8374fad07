package command

import (
	"testing"
)

// A thread takes what it shows off the allowance, and gives back what it has taken beyond that.
func TestShare(t *testing.T) {
	const text, long = 100, 256 << 10
	a := (&walkFlags{usual: 5000}).allowance(&source{input: 1})
	room := usualText + int64(1)
	for _, frames := range []int{10, 65, 1000, 3} {
		before, beforeText, beforeLeast := a.frames.Load(), a.text.Load(), a.least.Load()
		s := a.share()
		for level := range frames {
			if !s.has(level) {
				t.Fatalf("frame %d of %d is refused", level, frames)
			}
			s.wrote(text)
		}
		s.end()
		least := int64(min(frames, leastFrames))
		if n := before - a.frames.Load(); n != int64(frames)-least {
			t.Errorf("%d frames take %d of the allowance", frames, n)
		}
		if n := beforeLeast - a.least.Load(); n != least*text {
			t.Errorf("the first ones of %d frames take %d bytes", frames, n)
		}
		if n := beforeText - a.text.Load(); n != (int64(frames)-least)*text {
			t.Errorf("the others of %d frames take %d bytes", frames, n)
		}
	}
	// One thread with long names takes all text but the first frames' of the others.
	s, n := a.share(), 0
	for ; s.has(n); n++ {
		s.wrote(long)
	}
	s.end()
	if all := int64(n) * long; all < room-1<<20 || all > room+(leastFrames+1)*long {
		t.Errorf("one thread writes %d frames of %d bytes", n, long)
	}
	if s = a.share(); !s.has(0) {
		t.Error("another thread has no frame")
	}
	for level := 0; s.has(level); level++ {
		s.wrote(1 << 20)
	}
	s.end()
	if s = a.share(); s.has(0) {
		t.Error("a thread may write when all text is written")
	}
	if s = (*allowance)(nil).share(); !s.has(1 << 30) {
		t.Error("the user's own bound is another's")
	}
}
