package elfimage

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// byAddr gives any number of symbols, at any addresses, the order that sorting by comparison gives.
func TestByAddr(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 1 << 16, 1<<16 + 1} {
		for _, spread := range []uint64{1, 300, 1 << 11, 1 << 22, 1 << 47, 1<<64 - 1} {
			list := make([]Symbol, n)
			for i := range list {
				list[i] = Symbol{
					Addr: r.Uint64N(spread), Size: uint64(i),
					name: uint32(r.IntN(4)), table: uint8(r.IntN(2)), rank: uint8(r.IntN(3)),
				}
			}
			want := slices.Clone(list)
			less := func(a, b Symbol) int {
				return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.rank, b.rank),
					cmp.Compare(a.table, b.table), cmp.Compare(a.name, b.name))
			}
			slices.SortFunc(want, less)
			byAddr(list)
			if !slices.EqualFunc(list, want, func(a, b Symbol) bool { return less(a, b) == 0 }) {
				t.Errorf("%d symbols below %#x are out of order", n, spread)
			}
		}
	}
}
