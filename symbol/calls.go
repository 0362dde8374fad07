package symbol

import (
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
		if _, _, ok := b.holds(f, addr); ok && f.inline {
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
			for _, r := range b.rangesOf(&b.functions[j]) {
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
func (b *body) sortRanges(f *function) {
	ranges := b.rangesOf(f)
	if len(ranges) <= fewRanges {
		return
	}
	list := make([]span, len(ranges))
	for i, r := range ranges {
		list[i] = span{Lo: r[0], Hi: r[1]}
	}
	first := interval.First(list)
	f.from = int32(len(b.ranges))
	for r := range first.All() {
		b.ranges = append(b.ranges, [2]uint64{r.Lo, r.Hi})
	}
	f.to = int32(len(b.ranges))
}
