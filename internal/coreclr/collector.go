package coreclr

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/target"
)

// What the garbage collector tells debuggers (GcDacVars, of the versions 2 to 5): its version, two
// sizes, and addresses of variables, of which these are read. Each constant counts words.
const (
	leastVersion     = 2
	mostVersion      = 5
	generationSize   = 1
	generationCount  = 2
	generationTable  = 6
	maxGeneration    = 7
	currentSegment   = 10 // where small objects are made
	currentEnd       = 15 // up to where it has objects
	heapCount        = 22
	heapTable        = 23
	invalidCount     = 24
	heapFields       = 30
	generationFields = 31
	collectorWords   = 32

	ofCurrentEnd, ofCurrentSegment, ofGenerations = 0, 1, 18 // of heapFields
	ofFirstSegment                                = 1        // of generationFields
)

// A segment is a part of the heap (heap_segment, a region). Each number is of a word.
const (
	segmentEnd   = 0
	segmentBegin = 4
	segmentFlags = 5
	segmentNext  = 6
	segmentWords = 7
	segmentFixed = 1 // of the flags: what it has was there before the program
)

// Bounds of a heap.
const (
	mostVariables   = 256
	mostHeaps       = 1 << 10
	mostSegments    = 1 << 18
	smallGeneration = 3 // the generations of small objects
)

// The errors of [Runtime.Spans].
var (
	ErrCollecting = errors.New("the garbage collector is just moving objects")
	ErrNoHeap     = errors.New("the garbage collector's structures are not known")
)

// Span is a part of the heap that has objects, one behind the other.
type Span struct{ Begin, End uint64 }

// Spans returns where the objects of the heap are, but for large ones, which have a heap of their
// own. Where a thread is to make more objects, a span ends, and another one begins behind.
func (r *Runtime) Spans(m target.Memory) (list []Span, err error) {
	x, ok := r.collector(m)
	if !ok {
		return nil, ErrNoHeap
	}
	value := func(i int) uint64 { return word(m, x[i]) }
	if n, _ := half(m, x[invalidCount]); n != 0 {
		return nil, ErrCollecting
	}
	heaps, _ := half(m, x[heapCount])
	if x[heapCount] == 0 || heaps == 0 {
		list, err = r.spans(m, x, nil, x[generationTable], value(currentSegment), value(currentEnd))
		return r.without(m, list), err
	}
	if heaps > mostHeaps {
		return nil, ErrNoHeap
	}
	field := func(i uint64) uint64 { v, _ := half(m, x[heapFields]+4*i); return uint64(v) }
	for i := range uint64(heaps) {
		h := word(m, value(heapTable)+8*i)
		if list, err = r.spans(m, x, list, h+field(ofGenerations), word(m, h+field(ofCurrentSegment)), word(m, h+field(ofCurrentEnd))); err != nil {
			return nil, err
		}
	}
	return r.without(m, list), nil
}

// without returns spans without the parts in which threads are to make objects. Behind each of
// these is room for the smallest object.
func (r *Runtime) without(m target.Memory, spans []Span) (list []Span) {
	var holes []Span
	for _, t := range r.Threads(m) {
		if t.Makes.Begin != 0 && t.Makes.Begin <= t.Makes.End {
			holes = append(holes, Span{t.Makes.Begin, t.Makes.End + leastSize})
		}
	}
	slices.SortFunc(holes, func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, s := range spans {
		i := sort.Search(len(holes), func(i int) bool { return holes[i].Begin >= s.Begin })
		for ; i < len(holes) && holes[i].Begin < s.End; i++ {
			if h := holes[i]; h.Begin >= s.Begin {
				list = append(list, Span{s.Begin, h.Begin})
				s.Begin = min(h.End, s.End)
			}
		}
		list = append(list, s)
	}
	return list
}

// spans adds the spans of one heap to a list.
func (r *Runtime) spans(m target.Memory, x []uint64, list []Span, generations, current, end uint64) ([]Span, error) {
	first, _ := half(m, x[generationFields]+4*ofFirstSegment)
	seen := map[uint64]bool{}
	for i := range uint64(smallGeneration) { // the oldest objects first
		at := word(m, generations+(smallGeneration-1-i)*x[generationSize]+uint64(first))
		for at != 0 && !seen[at] {
			if seen[at] = true; len(seen) > mostSegments || len(list) > mostSegments {
				return nil, ErrNoHeap
			}
			var b [8 * segmentWords]byte
			if !read(m, at, b[:]) {
				return nil, ErrNoHeap
			}
			v := func(i int) uint64 { return order.Uint64(b[8*i:]) }
			s := Span{v(segmentBegin), v(segmentEnd)}
			if at == current {
				s.End = end
			}
			if v(segmentFlags)&segmentFixed == 0 && s.Begin < s.End {
				list = append(list, s)
			}
			at = v(segmentNext)
		}
	}
	return list, nil
}

// collector returns what the garbage collector tells. One of the run time's variables leads to it:
// the one that leads to its version.
func (r *Runtime) collector(m target.Memory) (x []uint64, ok bool) {
	var table [8 * mostVariables]byte
	n, _ := m.ReadMemory(r.variables, table[:])
	for t := table[:n&^7]; len(t) > 0; t = t[8:] {
		at := word(m, order.Uint64(t))
		var b [8 * collectorWords]byte
		if at&7 != 0 || !read(m, at, b[:]) || b[0] < leastVersion || b[0] > mostVersion {
			continue
		}
		x = x[:0]
		for i := range collectorWords {
			x = append(x, order.Uint64(b[8*i:]))
		}
		if most, ok := half(m, x[maxGeneration]); ok && most == 2 && x[generationCount] == 5 && x[generationSize] < 1<<12 {
			return x, true
		}
	}
	return nil, false
}
