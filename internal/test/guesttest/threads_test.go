//go:build linux

package guesttest

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestThreadsWithoutTables walks the stacks of threads in a program without unwind tables. The code
// of the C library that begins a thread is outermost, as the library's tables would say.
func TestThreadsWithoutTables(t *testing.T) {
	for _, s := range []subject{
		{"arm64", built(ARM64, "threads.c", "-O2", "-static", "-pthread"), nil, true},
		{"s390x", built(S390X, "threads.c", "-O2", "-static", "-pthread"), nil, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(c *checker) {
				begun := 0
				c.Each(t, false, func(stop *Stop) { begun += c.beginnings(stop) })
				if begun < 6 {
					t.Errorf("%d threads begin at thread_start", begun)
				}
			})
		})
	}
}

// beginnings walks the threads of a stop and returns how many begin at thread_start.
func (c *checker) beginnings(stop *Stop) (n int) {
	t := c.t
	tg, err := fromStub.open(stop, c.stripped, c.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := sniffer.Table(tg.Arch())
	check := walktest.New(tg.Modules(), table)
	for _, th := range threads {
		stack, err := frame.New(tg, th, table)
		if err != nil {
			t.Fatal(err)
		}
		var last *frame.Frame
		for f, err := range stack.All() {
			if err != nil {
				t.Errorf("thread %d: %v", th.ID(), err)
				break
			}
			last = f
		}
		if m := last.Module(); m != nil {
			if im, bias, err := m.Image(); err == nil {
				if s, ok := im.Symbols().Find(last.AddressInBlock() - bias); ok && im.Symbols().Name(s) == "thread_start" {
					n++
				}
			}
		}
		if err := check.Check(tg, th); err != nil {
			t.Errorf("thread %d: %v", th.ID(), err)
		}
	}
	return n
}
