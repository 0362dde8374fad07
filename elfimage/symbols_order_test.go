package elfimage

import (
	"cmp"
	"debug/elf"
	"math/rand/v2"
	"slices"
	"testing"
)

// The buckets that symbols are sorted by ascend as addresses do, wherever a file's segments are.
func TestBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, segments := range [][]elf.ProgHeader{
		nil,
		{{Type: elf.PT_LOAD, Vaddr: 0x400000, Memsz: 0x123456}},
		{{Type: elf.PT_LOAD, Memsz: 1}},
		{{Type: elf.PT_LOAD, Memsz: 1 << 40}, {Type: elf.PT_LOAD, Vaddr: 1<<64 - 2, Memsz: 1}},
		{{Type: elf.PT_LOAD, Vaddr: 1 << 63, Memsz: 1 << 20}, {Type: elf.PT_LOAD, Vaddr: 1<<64 - 2, Memsz: 5}},
	} {
		im := &Image{Progs: segments, size: 1 << 20}
		by := im.buckets(nil, 100_000)
		if last := by.of(^uint64(0)); last != by.last || last > 1<<16 || by.of(0) > last {
			t.Errorf("%v: the last bucket is %#x, of %#x", segments, last, by.last)
		}
		addrs := make([]uint64, 1000)
		for i := range addrs {
			addrs[i] = r.Uint64() >> r.IntN(64)
		}
		slices.Sort(addrs)
		if !slices.IsSortedFunc(addrs, func(a, b uint64) int { return cmp.Compare(by.of(a), by.of(b)) }) {
			t.Errorf("%v: the buckets do not ascend", segments)
		}
	}
}
