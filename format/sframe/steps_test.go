package sframe

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestSteps looks up PCs in sections whose functions lie so that a guess of their place is wrong.
// It compares with a search through the functions in order.
func TestSteps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	layouts := map[string]func(i int, last uint64) (start uint64, size uint32){
		"even":         func(i int, last uint64) (uint64, uint32) { return last, 16 },
		"gaps":         func(i int, last uint64) (uint64, uint32) { return last + rnd.Uint64N(64), 1 + rnd.Uint32N(200) },
		"one far away": func(i int, last uint64) (uint64, uint32) { return last + uint64(i/2999)<<30, 8 },
		"first is far": func(i int, last uint64) (uint64, uint32) {
			return last + uint64(min(i, 1))*(1<<30)*uint64(1-min(i-1, 1)), 8
		},
		"exponential":  func(i int, last uint64) (uint64, uint32) { return last + 1<<(i/125), 4 },
		"shrinking":    func(i int, last uint64) (uint64, uint32) { return last + 1<<uint(max(0, 20-i/10)), 4 },
		"many empty":   func(i int, last uint64) (uint64, uint32) { return last, uint32(i%7) / 6 * 32 },
		"all the same": func(i int, last uint64) (uint64, uint32) { return 0x1000, uint32(i/2999) * 64 },
		"overlapping":  func(i int, last uint64) (uint64, uint32) { return last / 2 * 2, 48 },
		"single":       func(i int, last uint64) (uint64, uint32) { return last, uint32(1-min(i, 1)) * 100 },
	}
	for name, next := range layouts {
		for _, v := range []struct {
			version Version
			abi     ABI
			flags   Flags
		}{{V1, AMD64, 0}, {V2, S390X, 0}, {V2, AMD64, FDEFuncStartPCRel}, {V3, AArch64LE, FDEFuncStartPCRel}, {V3, AArch64BE, 0}} {
			t.Run(fmt.Sprintf("%s V%d %v", name, v.version, v.flags), func(t *testing.T) {
				c := &Contents{Version: v.version, ABI: v.abi, Flags: FDESorted | v.flags}
				last := uint64(0x1000)
				for i := range 3000 {
					start, size := next(i, last)
					last = start + uint64(size)
					cfa := Rule{RuleInReg, v.abi.SP(), int32(i) * 8}
					if v.abi == S390X {
						cfa.Off += 160
					}
					c.Functions = append(c.Functions, Function{Start: start, Size: size, Entries: []Entry{{CFA: cfa, RA: same, FP: same}}})
				}
				const addr = 0x40000000
				s := mustOpen(t, encode(t, c, addr), addr)
				for i := range c.Functions {
					f := &c.Functions[rnd.IntN(len(c.Functions))]
					for _, pc := range []uint64{f.Start - 1, f.Start, f.Start + uint64(f.Size)/2, f.Start + uint64(f.Size) - 1, f.Start + uint64(f.Size), rnd.Uint64N(last + 100)} {
						// The last function that starts at or before pc and is not empty.
						want := -1
						for j := range c.Functions {
							if g := &c.Functions[j]; g.Start <= pc && g.Size > 0 {
								want = j
							}
						}
						if want >= 0 && pc-c.Functions[want].Start >= uint64(c.Functions[want].Size) {
							want = -1
						}
						row, err := s.Find(pc)
						switch {
						case want < 0 && err != ErrNoFDE, want >= 0 && (err != nil || row.CFA != c.Functions[want].Entries[0].CFA):
							t.Fatalf("Find(%#x): %v, %v; want function %d", pc, row, err, want)
						}
					}
					if i == 300 {
						break
					}
				}
			})
		}
	}
}

// TestOpenAllocates: Open allocates the same few bytes whatever the section's size, and the first
// look-up no more than a fixed number.
func TestOpenAllocates(t *testing.T) {
	for _, n := range []int{1, 29, 2600, 100000, 400000} {
		s := grown(t, "amd64-v3", n)
		allocated := func() uint64 {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.TotalAlloc
		}
		// The counter counts for the whole process, and the runtime may allocate at the same time:
		// the least of several times counts.
		open, find := ^uint64(0), ^uint64(0)
		for range 5 {
			before := allocated()
			opened := mustOpen(t, s.Data, s.Addr)
			between := allocated()
			opened.Find(0x1000)
			open, find = min(open, between-before), min(find, allocated()-between)
		}
		if open > 512 || find > 20<<10 {
			t.Errorf("%d functions: %d bytes for Open, %d for Find", n, open, find)
		}
	}
}
