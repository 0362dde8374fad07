package sframe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// A placement is a function's place, its start relative to the section.
type placement struct {
	start int64
	size  uint32
}

// farPlacements are functions all over the 64-bit range of V3's starts.
func farPlacements(n int) map[string][]placement {
	p := map[string][]placement{}
	add := func(name string, start int64, size uint32) { p[name] = append(p[name], placement{start, size}) }
	for i := range n {
		k := int64(i)
		first, last := 1-min(k, 1), max(0, k-int64(n)+2)
		add("4 GiB apart", k<<32, math.MaxUint32)
		add("evenly over 2^62", k*(1<<62/int64(n)), 4096)
		add("before and behind the section", 64*(k-int64(n)/2), 40)
		add("last 2^62 behind the others", 16*k+last<<62, 16)
		add("first 2^62 before the others", math.MaxInt64-64*int64(n-i)-first*(1<<62+1<<52), 60)
		add("up to 2^63", math.MaxInt64-64*int64(n-i), 60)
		add("from -2^63", math.MinInt64+64*k, 60)
		add("last at 2^63", k<<20+last*(math.MaxInt64-int64(n)<<20), 1<<20-1)
	}
	for i := range 62 {
		add("exponential", 1<<i, uint32(min(uint64(1)<<i, math.MaxUint32)))
	}
	return p
}

// lyingPlacements are functions that are not in order.
func lyingPlacements(n int) map[string][]placement {
	rnd := rand.New(rand.NewPCG(3, 4))
	p := map[string][]placement{}
	add := func(name string, start int64, size uint32) { p[name] = append(p[name], placement{start, size}) }
	for i := range n {
		add("descending", 0x1000+16*int64(n-i), 16)
		add("shuffled", 0x1000+16*rnd.Int64N(int64(n)), 16)
		add("last below the first", 0x1000+16*((int64(i)+1)%int64(n)), 16)
		add("anywhere", int64(rnd.Uint64()), rnd.Uint32())
	}
	return p
}

// TestPlacements looks up PCs among functions that lie far apart. It must find the same function as
// a search through all of them. If the functions are not sorted although the header says so, a
// look-up may find none, but never a wrong one.
func TestPlacements(t *testing.T) {
	for _, n := range []int{2, 33, 3000} {
		for _, addr := range []uint64{0, 1 << 40, math.MaxUint64 - 100} {
			for _, flags := range []Flags{0, FDEFuncStartPCRel} {
				for name, places := range farPlacements(n) {
					t.Run(fmt.Sprintf("%s/%d/%#x/%v", name, n, addr, flags), func(t *testing.T) {
						checkPlacements(t, places, addr, flags, true)
					})
				}
				for name, places := range lyingPlacements(n) {
					t.Run(fmt.Sprintf("%s/%d/%#x/%v", name, n, addr, flags), func(t *testing.T) {
						checkPlacements(t, places, addr, flags, false)
					})
				}
			}
		}
	}
}

func checkPlacements(t *testing.T, places []placement, addr uint64, flags Flags, sorted bool) {
	var fdes []any
	field := int64(headerSize)
	for _, p := range places {
		start := p.start
		if flags&FDEFuncStartPCRel != 0 {
			start -= field
		}
		field += int64(fdeSizes[V3])
		fdes = append(fdes, indexV3{start, p.size, 0})
	}
	fres := pack(t, big, uint16(1), uint8(Addr1), uint8(FDEDefault), uint8(0), []byte{0, 1<<1 | 1, 8})
	h := headerLayout{Version: uint8(V3), Flags: uint8(flags | FDESorted), ABI: uint8(S390X)}
	s := mustOpen(t, section(t, big, h, fdes, fres), addr)

	rnd := rand.New(rand.NewPCG(5, 6))
	pcs := []uint64{addr, 0, 1 << 63, math.MaxUint64, rnd.Uint64()}
	for _, i := range rnd.Perm(len(places))[:min(len(places), 100)] {
		start, size := addr+uint64(places[i].start), uint64(places[i].size)
		pcs = append(pcs, start-1, start, start+size/2, start+size-1, start+size)
	}
	var done sync.WaitGroup
	for range 2 { // concurrent look-ups, since look-ups fill in steps for the next ones
		done.Go(func() {
			for _, pc := range pcs {
				covers := func(p placement) bool { return pc-(addr+uint64(p.start)) < uint64(p.size) }
				row, err := s.Find(pc)
				i := slices.IndexFunc(places, covers)
				switch {
				case err == nil && pc-row.Lo >= uint64(row.Len):
					t.Errorf("Find(%#x): %v", pc, row)
				case err == nil && !slices.ContainsFunc(places, func(p placement) bool { return covers(p) && row.Lo == addr+uint64(p.start) }):
					t.Errorf("Find(%#x): %v, the row of no function there", pc, row)
				case sorted && i >= 0 && addr+uint64(places[i].start) > math.MaxUint64-uint64(places[i].size):
					if err == nil || err == ErrNoFDE {
						t.Errorf("Find(%#x): %v, %v in a function that goes beyond the address space", pc, row, err)
					}
				case sorted && (err == nil) != (i >= 0), sorted && i < 0 && err != ErrNoFDE:
					t.Errorf("Find(%#x): %v, %v; function %d", pc, row, err, i)
				}
			}
		})
	}
	done.Wait()
}
