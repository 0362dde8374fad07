package interval

import (
	"math/rand"
	"slices"
	"testing"
)

// TestNested compares Find with a search through every range: it yields the ranges that hold the
// address, the one that begins last first, an inner one before an outer one.
func TestNested(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 100 {
		var n Nested[int32]
		all := make([]Entry[int32], 1+random.Intn(30))
		for i := range all {
			lo := uint64(random.Intn(40))
			all[i] = Entry[int32]{lo, lo + 1 + uint64(random.Intn(12)), int32(i)}
			n.Add(all[i].Lo, all[i].Hi, all[i].Value)
		}
		n.Sort()
		slices.SortFunc(all, func(a, b Entry[int32]) int {
			switch {
			case a.Lo != b.Lo:
				return int(b.Lo) - int(a.Lo)
			case a.Hi != b.Hi:
				return int(a.Hi) - int(b.Hi)
			}
			return int(b.Value - a.Value)
		})
		for addr := range uint64(60) {
			var want, got []Entry[int32]
			for _, x := range all {
				if addr >= x.Lo && addr < x.Hi {
					want = append(want, x)
				}
			}
			n.Find(addr, func(x Entry[int32]) bool { got = append(got, x); return true })
			if !slices.Equal(got, want) {
				t.Fatalf("at %d: %v, want %v of %v", addr, got, want, all)
			}
		}
	}
}
