package interval

import (
	"math/rand/v2"
	"testing"
)

// Each address belongs to the first range that has it, as if all ranges were looked through.
func TestClaims(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var addrs []uint64
		for range r.IntN(50) {
			addrs = append(addrs, uint64(r.IntN(100)))
		}
		c := NewClaims(addrs)
		want, got := map[uint64]int{}, map[uint64]int{}
		for n := range 30 {
			lo := uint64(r.IntN(110))
			hi := lo + uint64(r.IntN(20))
			has := false
			for _, addr := range addrs {
				in := lo <= addr && addr < hi
				has = has || in
				if _, ok := want[addr]; in && !ok {
					want[addr] = n
				}
			}
			if c.Has(lo, hi) != has {
				t.Fatalf("[%d, %d) of %v: %v", lo, hi, addrs, !has)
			}
			for addr := range c.Claim(lo, hi) {
				if _, ok := got[addr]; ok {
					t.Fatalf("%d belongs to two", addr)
				}
				got[addr] = n
			}
		}
		for _, addr := range addrs {
			a, ok := got[addr]
			b, ok2 := want[addr]
			if a != b || ok != ok2 {
				t.Fatalf("%d belongs to %d, want %d", addr, a, b)
			}
		}
	}
}
