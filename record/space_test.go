package record

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// FuzzSplice maps memory over other memory: what is mapped stays in order, without overlaps, and
// the last mapping counts, as it does for the kernel.
func FuzzSplice(f *testing.F) {
	f.Add([]byte{0, 8, 2, 4, 1, 3, 0, 16})
	f.Add([]byte{4, 4, 2, 2, 3, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 64)]
		bounds.Hold(t, 1<<20, func() {
			var maps []procmaps.Mapping
			var owner [512]uint64 // by page, the number of the mapping; its offset is 1000 times that, plus the page
			for i := 0; i+1 < len(data); i += 2 {
				lo, n := uint64(data[i]), uint64(data[i+1])+1
				id := uint64(i/2 + 1)
				maps = splice(maps, procmaps.Mapping{Lo: lo, Hi: lo + n, Offset: 1000*id + lo})
				for page := lo; page < lo+n; page++ {
					owner[page] = id
				}
			}
			if !slices.IsSortedFunc(maps, func(a, b procmaps.Mapping) int {
				if a.Hi <= b.Lo {
					return -1
				}
				return 1
			}) {
				t.Fatalf("they overlap: %+v", maps)
			}
			for page := range uint64(len(owner)) {
				i, ok := procmaps.Find(maps, page)
				switch {
				case ok != (owner[page] != 0):
					t.Fatalf("page %d is mapped: %v, want the mapping %d; %+v", page, ok, owner[page], maps)
				case ok && maps[i].Offset+page-maps[i].Lo != 1000*owner[page]+page:
					t.Fatalf("page %d is of %+v, want the mapping %d", page, maps[i], owner[page])
				}
			}
		})
	})
}
