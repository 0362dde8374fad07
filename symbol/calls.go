package symbol

import (
	"slices"

	"github.com/sfwalk/sfwalk/internal/interval"
)

// Up to how many ranges of a function, and calls that are inlined directly into one, are looked at
// one by one. Compilers make more of few functions; hostile files have any number, and a stack with
// each frame in that function.
const fewRanges, fewCalls = 16, 64

// maxCalls bounds the calls that are looked at for one question. Compilers inline thousands into
// one function.
const maxCalls = 1 << 16

// inlinedAt returns the index of the call inlined directly into the function at index i that has
// code at addr; -1 if there is none. Of several, the first counts.
func (b *body) inlinedAt(i int, addr uint64) int {
	if calls, ok := b.inside[i]; ok {
		if at, ok := calls.Find(addr); ok {
			return int(at.Value)
		}
		return -1
	}
	for j, end := i+1, int(b.functions[i].end); j < end; j = int(b.functions[j].end) {
		f := &b.functions[j]
		if _, _, ok := f.holds(addr); ok && f.inline {
			return j
		}
	}
	return -1
}

// indexCalls fills in b.inside. Its memory is in rangeSize.
func (b *body) indexCalls() {
	for i := range b.functions {
		calls := 0
		b.inlinedInto(i, func(int) { calls++ })
		if calls <= fewCalls {
			continue
		}
		var list []span
		b.inlinedInto(i, func(j int) {
			for _, r := range b.functions[j].ranges {
				list = append(list, span{Lo: r[0], Hi: r[1], Value: int32(j)})
			}
		})
		if b.inside == nil {
			b.inside = make(map[int]interval.Map[int32])
		}
		b.inside[i] = interval.First(list)
	}
}

// inlinedInto calls each with the indexes of the calls that are inlined directly into the function
// at index i.
func (b *body) inlinedInto(i int, each func(j int)) {
	for j, end := i+1, int(b.functions[i].end); j < end; j = int(b.functions[j].end) {
		if b.functions[j].inline {
			each(j)
		}
	}
}

// sortRanges has the ranges of a function that has many ascend, and not overlap: then holds finds
// one at once.
func (f *function) sortRanges() {
	if len(f.ranges) <= fewRanges {
		return
	}
	list := make([]span, len(f.ranges))
	for i, r := range f.ranges {
		list[i] = span{Lo: r[0], Hi: r[1]}
	}
	first := interval.First(list)
	f.ranges = slices.Grow(f.ranges[:0], first.Len())
	for r := range first.All() {
		f.ranges = append(f.ranges, [2]uint64{r.Lo, r.Hi})
	}
}
