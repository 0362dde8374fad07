package interval

import (
	"math/rand"
	"testing"
)

// Find finds the ranges that Put has put, and nothing else: the test keeps a value for each
// address.
func TestMap(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		var s Map[int]
		var want [64]int
		for n := 1; n < 40; n++ {
			lo := random.Intn(len(want) - 1)
			hi := lo + 1 + random.Intn(min(12, len(want)-lo-1)+1)
			hi = min(hi, len(want))
			s.Put(uint64(lo), uint64(hi), n)
			for i := lo; i < hi; i++ {
				want[i] = n
			}
			for i, x := range s.list {
				if x.Lo >= x.Hi || i > 0 && x.Lo < s.list[i-1].Hi {
					t.Fatalf("after %d: %v", n, s.list)
				}
			}
			for addr, v := range want {
				x, ok := s.Find(uint64(addr))
				if ok != (v != 0) || ok && x.Value != v {
					t.Fatalf("after %d: at %d there is %v, %v; want %d: %v", n, addr, x, ok, v, s.list)
				}
			}
		}
	}
	var s Map[string]
	s.Put(0, ^uint64(0), "all")
	s.Put(^uint64(0)-1, ^uint64(0), "last")
	if x, ok := s.Find(^uint64(0) - 1); !ok || x.Value != "last" {
		t.Errorf("at the end there is %v", x)
	}
}
