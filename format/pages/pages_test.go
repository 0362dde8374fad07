package pages_test

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/format/pages"
)

// file is a file of n bytes, of which the first end can be read.
type file struct {
	text  []byte
	mu    sync.Mutex
	reads int // bytes
	end   int64
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := copy(p, f.text[min(off, f.end):f.end])
	f.reads += n
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func random(n int) *file {
	f := &file{text: make([]byte, n), end: int64(n)}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range f.text {
		f.text[i] = byte(r.Uint32())
	}
	return f
}

// Any part is the file's once it was asked for, and each page is read once, whoever asks.
func TestView(t *testing.T) {
	for _, n := range []int{0, 1, pages.Size, pages.Size + 1, 70*pages.Size + 5} {
		f := random(n)
		b := pages.New(f, n)
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(2, uint64(g)))
				for range 200 {
					from := r.IntN(n + 1)
					to := from + min(r.IntN(3*pages.Size), n-from)
					if view, ok := b.View(from, to); !ok || !bytes.Equal(view, f.text[from:to]) {
						t.Errorf("%d bytes: %d to %d differ", n, from, to)
					}
				}
			})
		}
		wg.Wait()
		if view, ok := b.View(0, n); !ok || !bytes.Equal(view, f.text) || f.reads != n {
			t.Errorf("%d bytes: %d were read, or they differ", n, f.reads)
		}
		for _, x := range [][2]int{{-1, 0}, {0, n + 1}, {n + 1, n + 1}, {1, 0}} {
			if _, ok := b.View(x[0], x[1]); ok {
				t.Errorf("%d bytes: %d to %d are there", n, x[0], x[1])
			}
		}
	}
}

// What a file no longer has is not there, and what it has is.
func TestShrunk(t *testing.T) {
	const n = 10*pages.Size + 7
	f := random(n)
	b := pages.New(f, n)
	f.end = 5*pages.Size + 1
	for _, x := range []struct {
		from, to int
		there    bool
	}{{4 * pages.Size, 5 * pages.Size, true}, {5 * pages.Size, 5*pages.Size + 1, false}, {4 * pages.Size, 6 * pages.Size, false}, {n - 1, n, false}} {
		if _, ok := b.View(x.from, x.to); ok != x.there {
			t.Errorf("%d to %d: %v", x.from, x.to, ok)
		}
	}
	if part, err := b.Window(0, make([]byte, n)); err == nil || !bytes.Equal(part, f.text[:f.end]) {
		t.Errorf("%d bytes, %v; want %d and an error", len(part), err, f.end)
	}
	if part, err := b.Window(0, make([]byte, pages.Size)); err != nil || !bytes.Equal(part, f.text[:pages.Size]) {
		t.Errorf("%d bytes, %v", len(part), err)
	}
}

// The largest part of a file of a host of 32 bits has its last byte.
func TestLargest(t *testing.T) {
	b := pages.New(zeros{}, math.MaxInt32)
	if view, ok := b.View(math.MaxInt32-1, math.MaxInt32); !ok || len(view) != 1 {
		t.Errorf("%d bytes, %v", len(view), ok)
	}
}

type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func TestOf(t *testing.T) {
	b := pages.Of([]byte("abc"))
	if part, err := b.Window(1, nil); b.Paged() || b.Len() != 3 || err != nil || string(part) != "bc" {
		t.Errorf("%q, %v", part, err)
	}
	for _, to := range []int{-1, 1, 3, 4} {
		if view, ok := b.View(1, to); ok != (to == 1 || to == 3) || ok && string(view) != "abc"[1:to] {
			t.Errorf("1 to %d: %q, %v", to, view, ok)
		}
	}
}
