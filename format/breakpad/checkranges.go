package breakpad

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sort"
)

var seed = maphash.MakeSeed()

func hash(s string) uint64 { return maphash.String(seed, s) }

// end checks what takes the whole file to know.
func (c *checker) end() {
	if c.Lines == 0 {
		c.problemAt(1, wrongModule, "the file does not begin with a MODULE record")
	}
	c.overlaps("FUNC", c.funcs, func(a, b *checkedRange) string {
		if a.Range != b.Range {
			return wrongOverlap
		}
		if a.hash == b.hash {
			return wrongRepeated
		}
		return "" // the linker has folded functions
	})
	c.overlaps("STACK CFI INIT", c.cfi, func(a, b *checkedRange) string {
		if a.Range == b.Range && a.hash == b.hash {
			return "" // .debug_frame and .eh_frame have the same
		}
		return wrongOverlap
	})
	same := func(a, b *checkedRange) string {
		if a.Range == b.Range {
			return wrongRepeated
		}
		return "" // Microsoft's nest
	}
	c.overlaps("STACK WIN 4", c.frames, same)
	c.overlaps("STACK WIN 0", c.fpo, same)
	c.overlaps("PUBLIC", c.publics, func(a, b *checkedRange) string {
		if a.Address == 0 {
			return "" // Microsoft's tools give 0 for symbols without an address
		}
		return wrongRepeated
	})
	c.inlinedElsewhere()
}

// overlaps reports records that overlap the one before, by address. kind says what is wrong with
// two, b behind a.
func (c *checker) overlaps(record string, list []checkedRange, kind func(a, b *checkedRange) string) {
	slices.SortStableFunc(list, func(a, b checkedRange) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(b.Size, a.Size), a.line-b.line)
	})
	last := 0
	for i := 1; i < len(list); i++ {
		a, b := &list[last], &list[i]
		if a.Size > 0 && b.Size > 0 && a.Contains(b.Address) {
			if k := kind(a, b); k != "" {
				c.problemAt(b.line, k, "%s at %x, %d bytes: line %d has one at %x, %d bytes", record, b.Address, b.Size, a.line, a.Address, a.Size)
			}
		}
		if b.Address+b.Size > a.Address+a.Size {
			last = i
		}
	}
}

// inlinedElsewhere reports inlined calls whose code is in no function of that name.
func (c *checker) inlinedElsewhere() {
	for _, e := range c.outside {
		i := sort.Search(len(c.funcs), func(i int) bool { return c.funcs[i].Address > e.code.Address })
		found := false
		for j := i - 1; j >= max(0, i-64) && !found; j-- { // functions may be folded
			found = c.funcs[j].holds(e.code) && c.funcs[j].hash == hash(e.name)
		}
		if !found {
			c.problemAt(e.line, wrongOutside, "INLINE of %x to %x is not in its function %s", e.code.Address, e.code.Address+e.code.Size, e.name)
		}
	}
}
