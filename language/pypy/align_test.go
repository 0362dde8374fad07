package pypy

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// frames returns frames of functions.
func frames(numbers ...uint64) (list []*pythonFrame) {
	for i, n := range numbers {
		list = append(list, &pythonFrame{at: uint64(i + 1), code: &code{number: n}})
	}
	return list
}

// TestAlign has elements and frames of both interpreted and compiled functions. at has which frame
// each element is to get, from 1 on.
func TestAlign(t *testing.T) {
	interpreted := func(n uint64, record int) element { return element{number: n, record: record} }
	compiled := func(n uint64, record int) element { return element{number: n, record: record, inside: true} }
	for _, c := range []struct {
		name     string
		elements []element
		segments []segment
		complete bool
		at       []uint64
		extra    int
	}{
		{"interpreted", []element{interpreted(1, 0), interpreted(1, 1), interpreted(2, 2)}, []segment{{frames(1, 1, 2), -1}}, true, []uint64{1, 2, 3}, 0},
		{"just begun", []element{interpreted(1, 0), interpreted(1, 1), interpreted(2, 2)}, []segment{{frames(1, 2), -1}}, true, []uint64{0, 1, 2}, 0},
		{"recorded by the compiler", []element{interpreted(1, 0), interpreted(2, 1)}, []segment{{frames(1, 5, 6, 2), -1}}, true, []uint64{1, 4}, 2},
		{"inlined recursion, not stored", []element{compiled(1, 0), compiled(1, 0), interpreted(1, 1)}, []segment{{frames(1), -1}}, true, []uint64{0, 0, 1}, 0},
		{"in registers", []element{interpreted(3, 0), compiled(1, 1), compiled(1, 1), {number: 1, record: 2, enters: true}, interpreted(2, 3)},
			[]segment{{frames(3), -1}, {frames(1, 2), 3}}, true, []uint64{1, 0, 0, 1, 2}, 0},
		{"in registers, recursion", []element{interpreted(1, 0), compiled(1, 1), compiled(1, 1), {number: 1, record: 2, enters: true}},
			[]segment{{frames(1), -1}, {frames(1), 3}}, true, []uint64{1, 0, 0, 1}, 0},
		{"nothing", nil, []segment{{nil, -1}}, true, nil, 0},
		{"no elements", nil, []segment{{frames(1, 2), -1}}, true, nil, 0},
	} {
		align(c.elements, c.segments, c.complete)
		var at []uint64
		extra := 0
		for _, e := range c.elements {
			extra += len(e.extra)
			if e.frame == nil {
				at = append(at, 0)
			} else {
				at = append(at, e.frame.at)
			}
		}
		if !slices.Equal(at, c.at) || extra != c.extra {
			t.Errorf("%s: %d and %d, want %d and %d", c.name, at, extra, c.at, c.extra)
		}
	}
}

// FuzzAlign has any elements and frames: each frame is given once.
func FuzzAlign(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{1, 2, 0, 3}, uint8(2))
	f.Fuzz(func(t *testing.T, numbers, inMemory []byte, base uint8) {
		numbers, inMemory = numbers[:min(len(numbers), 1<<10)], inMemory[:min(len(inMemory), 1<<10)]
		var elements []element
		for i, n := range numbers {
			elements = append(elements, element{number: uint64(n & 7), record: i / 3, inside: n&8 != 0, enters: n&16 != 0})
		}
		segments := []segment{{base: -1}}
		for i, n := range inMemory {
			last := &segments[len(segments)-1]
			last.frames = append(last.frames, &pythonFrame{at: uint64(i + 1), code: &code{number: uint64(n & 7)}})
			if at := int(base) * len(segments); n&8 != 0 && at < len(elements) {
				segments = append(segments, segment{base: at})
			}
		}
		bounds.Hold(t, 64<<10+256*(len(elements)+len(inMemory)), func() { align(elements, segments, base&1 != 0) })
		seen := map[uint64]bool{}
		for _, e := range elements {
			for _, f := range append(e.extra, e.frame) {
				if f == nil {
					continue
				}
				if seen[f.at] {
					t.Fatal("a frame is given twice")
				}
				seen[f.at] = true
			}
			if e.frame != nil && e.frame.code.number != e.number {
				t.Fatal("a frame is another function's")
			}
		}
	})
}
