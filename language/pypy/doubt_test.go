package pypy

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/pypy"
)

// TestDoubt has records, the innermost first, with the levels of their frames, and functions of
// them. What a guard that has just failed leaves is what was seen in a process that stood still
// between the records of its functions and its frame.
func TestDoubt(t *testing.T) {
	const code, jitted = pypy.Code, pypy.Jitted
	for _, c := range []struct {
		name   string
		kinds  []uint64 // of records
		levels []int
		in     []int // the records of functions
		doubt  []int
	}{
		{"interpreted", []uint64{code, code, code}, []int{3, 9, 15}, []int{0, 1, 2}, nil},
		{"compiled", []uint64{jitted, code, code}, []int{3, 8, 14}, []int{0, 0, 1, 2}, []int{0, 1}},
		{"compiled, and calls the interpreter", []uint64{code, jitted, code}, []int{3, 8, 13}, []int{0, 1, 1, 2}, nil},
		{"compiled, and calls compiled code", []uint64{jitted, jitted, code}, []int{3, 4, 9}, []int{0, 1, 1, 2}, []int{0}},
		{"left, entered by the interpreter", []uint64{code, code, code, code}, []int{8, 8, 8, 14}, []int{0, 1, 2, 3}, []int{2}},
		{"left, entered by compiled code", []uint64{code, code, code, jitted, code}, []int{8, 8, 8, 8, 13}, []int{0, 1, 2, 3, 4}, []int{3}},
		{"nothing", nil, nil, nil, nil},
	} {
		p := &placer{m: &reader{runtime: &runtime{}}, levels: c.levels}
		for _, kind := range c.kinds {
			p.records = append(p.records, record{kind: kind})
		}
		var elements []element
		for _, i := range c.in {
			elements = append(elements, element{record: i, inside: c.kinds[i] == jitted})
		}
		p.doubt(elements)
		var got []int
		for i, e := range elements {
			if e.doubt {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.doubt) {
			t.Errorf("%s: %d, want %d", c.name, got, c.doubt)
		}
	}
}
