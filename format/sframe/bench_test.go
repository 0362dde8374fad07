package sframe

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// grown returns a section of n functions, back to back from address 0x1000. They repeat the
// functions of a real section, each with FREs of its own.
func grown(t testing.TB, fixture string, n int) *Section {
	t.Helper()
	src, _ := openFixture(t, fixture)
	order := src.ByteOrder.(interface {
		binary.ByteOrder
		binary.AppendByteOrder
	})
	const addr = 1 << 32
	if src.Version != V3 && n > 100000 {
		t.Fatal("starts of 32 bits")
	}
	var fdes, fres []byte
	numFREs, next := uint32(0), uint64(0x1000)
	freeze := func(f FDE) []byte { // the FDE's part of the FRE sub-section
		end := src.firstFRE(&f)
		for i := range int(f.NumFREs) {
			_, after, err := src.readFRE(&f, i, end)
			if err != nil {
				t.Fatal(err)
			}
			end = after
		}
		return src.fres[f.FREOff:end]
	}
	for i := range n {
		f, err := src.FDE(i % (int(src.NumFDEs) - 1)) // not the last one of 71,008 bytes
		if err != nil {
			t.Fatal(err)
		}
		start := int64(next) - addr
		if src.pcrel != 0 {
			start -= int64(headerSize + len(fdes))
		}
		fde := append([]byte(nil), src.fdes[f.Index*src.fdeSize:][:src.fdeSize]...)
		if src.Version == V3 {
			order.PutUint64(fde, uint64(start))
			order.PutUint32(fde[12:], uint32(len(fres)))
		} else {
			order.PutUint32(fde, uint32(start))
			order.PutUint32(fde[8:], uint32(len(fres)))
		}
		fdes = append(fdes, fde...)
		fres = append(fres, freeze(f)...)
		numFREs += f.NumFREs
		next += uint64(f.Size)
	}
	if src.Version != V3 && next > 1<<31 {
		t.Fatal("starts of 32 bits")
	}
	data := append([]byte(nil), src.Data[:8]...)
	for _, v := range []uint32{uint32(n), numFREs, uint32(len(fres)), 0, uint32(len(fdes))} {
		data = order.AppendUint32(data, v)
	}
	s, err := Open(append(append(data, fdes...), fres...), addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomPCs returns PCs of random functions, at random offsets.
func randomPCs(t testing.TB, s *Section) []uint64 {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	pcs := make([]uint64, 1<<16)
	for i := range pcs {
		f, err := s.FDE(rnd.IntN(int(s.NumFDEs)))
		if err != nil {
			t.Fatal(err)
		}
		pcs[i] = f.Start + rnd.Uint64N(uint64(f.Size))
		if row, err := s.Find(pcs[i]); err != nil || pcs[i]-row.Lo >= uint64(row.Len) {
			t.Fatalf("Find(%#x): %v, %v", pcs[i], row, err)
		}
	}
	return pcs
}

// BenchmarkFind looks up random PCs.
func BenchmarkFind(b *testing.B) {
	for _, fixture := range []string{"amd64-v1", "amd64-v2", "amd64-v3", "arm64-v3", "s390x-v3"} {
		for _, n := range []int{2600, 100000} {
			b.Run(fmt.Sprintf("%s/%d", fixture, n), func(b *testing.B) {
				s := grown(b, fixture, n)
				pcs := randomPCs(b, s)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					if _, err := s.Find(pcs[i%len(pcs)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFindUnsorted looks up random PCs through the index.
func BenchmarkFindUnsorted(b *testing.B) {
	s := grown(b, "amd64-v3", 100000)
	s.Data[3] &^= byte(FDESorted)
	s, err := Open(s.Data, s.Addr)
	if err != nil {
		b.Fatal(err)
	}
	pcs := randomPCs(b, s)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if _, err := s.Find(pcs[i%len(pcs)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a section of 100,000 functions.
func BenchmarkOpen(b *testing.B) {
	data := grown(b, "amd64-v3", 100000).Data
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(data, 0x1000); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFREs reads every FDE and FRE of a section of 2,600 functions.
func BenchmarkFREs(b *testing.B) {
	s := grown(b, "amd64-v3", 2600)
	b.SetBytes(int64(len(s.Data)))
	b.ReportAllocs()
	for b.Loop() {
		for f, err := range s.FDEs() {
			if err != nil {
				b.Fatal(err)
			}
			for _, err := range s.FREs(f) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
