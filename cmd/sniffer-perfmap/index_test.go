package main

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Painting record over record shows which record every address belongs to.
func TestFlatten(t *testing.T) {
	const size = 200
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var painted [size]int64 // 0 for nothing
		records := make([]code, rng.IntN(20))
		for i := range records {
			lo := rng.IntN(size - 1)
			c := code{uint64(lo), uint64(lo + 1 + rng.IntN(40)), int64(i + 1)}
			c.hi = min(c.hi, size)
			records[i] = c
			for a := c.lo; a < c.hi; a++ {
				painted[a] = c.at
			}
		}
		// The records come in two parts, as from a file that has grown.
		cut := rng.IntN(len(records) + 1)
		original := slices.Clone(records)
		x := overlay(flatten(records[:cut]), flatten(records[cut:]))
		for a := range uint64(size) {
			c, ok := x.find(a)
			if got := c.at; ok != (painted[a] != 0) || got != painted[a] {
				t.Fatalf("%v, cut at %d: %d belongs to record %d (%v), want %d", original, cut, a, got, ok, painted[a])
			}
			if ok {
				continue
			}
			lo, hi := x.gap(a)
			for g := lo; g < min(hi, size); g++ {
				if painted[g] != 0 {
					t.Fatalf("%v: the gap around %d is [%d, %d), and %d is not in it", original, a, lo, hi, g)
				}
			}
			if lo > a || hi <= a {
				t.Fatalf("the gap around %d is [%d, %d)", a, lo, hi)
			}
		}
		if overlaps(x) {
			t.Fatalf("%v: %v overlap", original, x)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	x := make(index, 100_000)
	for i := range x {
		x[i] = code{uint64(i) * 64, uint64(i)*64 + 60, int64(i)}
	}
	b.ReportAllocs()
	addr := uint64(0)
	for b.Loop() {
		x.find(addr % (64 * 100_000))
		addr += 0x9e3779b97f4a7c15
	}
}
