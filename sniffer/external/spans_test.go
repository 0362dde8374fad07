package external

import (
	"math/rand"
	"testing"
)

// What is put is found, and nothing else: held against a value for each address.
func TestSpans(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		var s spans[int]
		var want [64]int
		for n := 1; n < 40; n++ {
			lo := random.Intn(len(want) - 1)
			hi := lo + 1 + random.Intn(min(12, len(want)-lo-1)+1)
			hi = min(hi, len(want))
			s.put(uint64(lo), uint64(hi), n)
			for i := lo; i < hi; i++ {
				want[i] = n
			}
			for i, x := range s.list {
				if x.lo >= x.hi || i > 0 && x.lo < s.list[i-1].hi {
					t.Fatalf("after %d: %v", n, s.list)
				}
			}
			for addr, v := range want {
				x, ok := s.find(uint64(addr))
				if ok != (v != 0) || ok && x.value != v {
					t.Fatalf("after %d: at %d there is %v, %v; want %d: %v", n, addr, x, ok, v, s.list)
				}
			}
		}
	}
	var s spans[string]
	s.put(0, ^uint64(0), "all")
	s.put(^uint64(0)-1, ^uint64(0), "last")
	if x, ok := s.find(^uint64(0) - 1); !ok || x.value != "last" {
		t.Errorf("at the end there is %v", x)
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct {
		text    string
		longest int
		want    string
	}{
		{"~inner\tx.js", 99, "~inner x.js"},
		{"\x1b[31mred\x07", 99, "\ufffd[31mred\ufffd"},
		{"bad\xffutf8", 99, "bad\ufffdutf8"},
		{"two\nlines", 99, "two\ufffdlines"},
		{"\u202egnp", 99, "\ufffdgnp"}, // would be shown from right to left
		{"größer", 3, "gr"},            // within a character
		{"größer", 4, "grö"},
	} {
		if got := clean(tt.text, tt.longest); got != tt.want {
			t.Errorf("%q is shown as %q, want %q", tt.text, got, tt.want)
		}
	}
}
