package interval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// TestFirst: of ranges that overlap, the first in the list has an address.
func TestFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for range 500 {
		list := make([]Entry[int], random.IntN(20))
		for i := range list {
			lo := random.Uint64N(200)
			list[i] = Entry[int]{lo, lo + random.Uint64N(1<<random.IntN(8)), i}
		}
		if random.IntN(4) == 0 {
			slices.SortFunc(list, func(a, b Entry[int]) int { return int(a.Lo) - int(b.Lo) })
		}
		m := First(slices.Clone(list))
		if m.Len() > 2*len(list) {
			t.Errorf("%d ranges of %v", m.Len(), list)
		}
		for i, e := range m.list {
			if e.Lo >= e.Hi || i > 0 && m.list[i-1].Hi > e.Lo {
				t.Errorf("%v: %v", list, m.list)
			}
		}
		for addr := range uint64(400) {
			want := slices.IndexFunc(list, func(e Entry[int]) bool { return addr >= e.Lo && addr < e.Hi })
			e, ok := m.Find(addr)
			if ok != (want >= 0) || ok && e.Value != list[want].Value {
				t.Fatalf("%v: at %d there is %v, %v", list, addr, e, ok)
			}
		}
	}
}

// TestFirstOfMany: ranges that lie in one another, or each beside half of the next, take their own
// time and memory alone.
func TestFirstOfMany(t *testing.T) {
	const n = 200000
	var nested, beside []Entry[int32]
	for i := range int32(n) {
		nested = append(nested, Entry[int32]{uint64(n + i), uint64(4*n - i), n - i})
		beside = append(beside, Entry[int32]{uint64(2 * (n - i)), uint64(2*(n-i) + 3), i})
	}
	bounds.Hold(t, 2*n*200, func() {
		if a, b := First(nested), First(beside); a.Len() != 1 || b.Len() != n {
			t.Errorf("%d and %d ranges", a.Len(), b.Len())
		}
	})
}
