package cfi_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
)

// encodedHeader rewrites the header of a section with another table encoding
// (LSB Core, "Exception Frame Header"). It makes both fields of an entry from the FDEs.
func encodedHeader(t *testing.T, in input, enc byte, order func([]cfi.FDE)) []byte {
	t.Helper()
	in.opts.Header = nil
	var fdes []cfi.FDE
	for f, err := range in.open(t).FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Len > 0 {
			fdes = append(fdes, f)
		}
	}
	slices.SortFunc(fdes, func(a, b cfi.FDE) int { return int(int64(a.Start) - int64(b.Start)) })
	if order != nil {
		order(fdes)
	}
	o := in.opts.Order.(binary.AppendByteOrder)
	b := join(1, 0xff, 0x03, int(enc))
	b = o.AppendUint32(b, uint32(len(fdes)))
	field := func(v uint64) {
		switch enc & 0x70 {
		case 0x10:
			v -= in.opts.HeaderAddr + uint64(len(b))
		case 0x30:
			v -= in.opts.HeaderAddr
		}
		switch enc & 0x07 {
		case 2:
			b = o.AppendUint16(b, uint16(v))
		case 3:
			b = o.AppendUint32(b, uint32(v))
		default:
			b = o.AppendUint64(b, v)
		}
	}
	for _, f := range fdes {
		field(f.Start)
		field(in.addr + uint64(f.Offset))
	}
	return b
}

// Tables in each encoding of fixed size must give the same FDEs as the index. The
// fixtures are small enough for offsets of 16 bits.
func TestHeaderEncodings(t *testing.T) {
	for _, name := range []string{"arm64-pauth", "s390x"} {
		in := load(t, "testdata/"+name+".so", ".eh_frame", true)
		o := golden(t, name, ".eh_frame")
		for _, enc := range []byte{0x00, 0x02, 0x03, 0x04, 0x0a, 0x0b, 0x0c, 0x1a, 0x1b, 0x1c, 0x3a, 0x3b, 0x3c} {
			in.opts.Header = encodedHeader(t, in, enc, nil)
			compare(t, in, o)
		}
	}
}

// A header that lies must not hide or forge an FDE: all answers are still right.
func TestLyingHeaders(t *testing.T) {
	const name = "arm64-pauth"
	good := load(t, "testdata/"+name+".so", ".eh_frame", true)
	o := golden(t, name, ".eh_frame")
	edit := func(f func(h []byte)) []byte {
		h := slices.Clone(good.opts.Header)
		f(h)
		return h
	}
	// The table is at 12, an entry has 8 bytes.
	for _, test := range []struct {
		name   string
		header []byte
	}{
		{"reversed", encodedHeader(t, good, 0x3b, slices.Reverse[[]cfi.FDE])},
		{"two exchanged", encodedHeader(t, good, 0x3b, func(f []cfi.FDE) { f[1], f[4] = f[4], f[1] })},
		{"rotated", encodedHeader(t, good, 0x3b, func(f []cfi.FDE) { copy(f, append(slices.Clone(f[3:]), f[:3]...)) })},
		{"another FDE", edit(func(h []byte) { copy(h[12+8*3+4:12+8*4], h[12+8*4+4:]) })},
		{"a CIE", edit(func(h []byte) {
			binary.LittleEndian.PutUint32(h[12+8*3+4:], uint32(good.addr-good.opts.HeaderAddr))
		})},
		{"inside an FDE", edit(func(h []byte) { h[12+8*3+4] += 4 })},
		{"far outside", edit(func(h []byte) { h[12+8*3+7] = 0x7f })},
		{"wrong start", edit(func(h []byte) { h[12+8*3] += 4 })},
		{"too many entries", edit(func(h []byte) { h[8]++ })},
		{"very many entries", edit(func(h []byte) { copy(h[8:], "\xff\xff\xff\xff") })},
		{"no entries", edit(func(h []byte) { h[8] = 0 })},
		{"version", edit(func(h []byte) { h[0] = 2 })},
		{"no table", edit(func(h []byte) { h[3] = 0xff })},
		{"entries of variable size", edit(func(h []byte) { h[3] = 0x31 })},
		{"short", good.opts.Header[:3]},
		{"cut", good.opts.Header[:20]},
		{"zeros", make([]byte, 100)},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := good
			in.opts.Header = test.header
			compare(t, in, o)
			// Each address gets a fresh section, which has not found out yet that the header lies.
			for _, f := range o.fdes {
				if got, err := in.open(t).Find(f.start); err != nil || uint64(got.Offset) != f.offset {
					t.Errorf("Find(%#x): FDE at %#x, %v; want %#x", f.start, got.Offset, err, f.offset)
				}
			}
		})
	}
}

// A section serves many goroutines while it builds its index and finds out
// about its header.
func TestConcurrentUse(t *testing.T) {
	in := load(t, "testdata/arm64-pauth.so", ".eh_frame", true)
	o := golden(t, "arm64-pauth", ".eh_frame")
	in.opts.Header = encodedHeader(t, in, 0x3b, slices.Reverse[[]cfi.FDE])
	s := in.open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, f := range o.fdes {
				if _, got, err := s.Row(f.start); err != nil || uint64(got.Offset) != f.offset {
					t.Errorf("Row(%#x): FDE at %#x, %v", f.start, got.Offset, err)
				}
			}
		})
	}
	wg.Wait()
}

// Look-ups must not allocate beyond what a row needs.
func TestAllocations(t *testing.T) {
	in := load(t, "testdata/arm64-pauth.so", ".eh_frame", true)
	s := in.open(t)
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range s.Rows(f) {
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			switch {
			case len(row.Others.Regs) > 6:
				want = 2
			case len(row.Others.Regs) > 0:
				want = 1
			}
			if n := testing.AllocsPerRun(10, func() { s.Row(row.Lo) }); n > want {
				t.Errorf("Row(%#x): %v allocations, want %v at most", row.Lo, n, want)
			}
			if n := testing.AllocsPerRun(10, func() { s.Find(row.Lo) }); n != 0 {
				t.Errorf("Find(%#x): %v allocations", row.Lo, n)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { s.Find(0) }); n != 0 {
		t.Errorf("a miss: %v allocations", n)
	}
}

// An empty FDE may start at the same address as another FDE.
func TestEmptyFDE(t *testing.T) {
	cie := block(u32(0), ehCIE(""), ehInitial)
	fde := func(at int, start, length uint64) []byte {
		return block(u32(uint32(at+4)), u64(start), u64(length))
	}
	full := len(cie)
	data := join(cie, fde(full, 0x1000, 0x100))
	empty := len(data)
	data = join(data, fde(empty, 0x1000, 0), fde(len(data)+24, 0x3000, 0x10))
	const headerAddr = 0x100
	opts := amd64
	opts.HeaderAddr = headerAddr
	opts.Header = join(1, 0xff, 0x03, 0x3b, u32(3),
		u32(0x1000-headerAddr), u32(uint32(ehAddr+full-headerAddr)),
		u32(0x1000-headerAddr), u32(uint32(ehAddr+empty-headerAddr)),
		u32(0x3000-headerAddr), u32(uint32(ehAddr+empty+24-headerAddr)))
	s, err := cfi.Open(cfi.EH, data, ehAddr, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, pc := range []uint64{0x1000, 0x10ff} {
		if f, err := s.Find(pc); err != nil || f.Offset != full {
			t.Errorf("Find(%#x): FDE at %#x, %v; want %#x", pc, f.Offset, err, full)
		}
	}
	if f, err := s.Find(0x1100); err == nil {
		t.Errorf("Find(0x1100): %+v", f)
	}
}

// The header's pointer is to the section, as the section headers say.
func TestFrameAddress(t *testing.T) {
	for _, name := range []string{"arm64-pauth", "arm64-bkey", "s390x"} {
		in := load(t, "testdata/"+name+".so", ".eh_frame", true)
		got, err := cfi.FrameAddress(in.opts.Header, in.opts.HeaderAddr, in.opts.ABI)
		if err != nil || got != in.addr {
			t.Errorf("%s: %#x, %v; want %#x", name, got, err, in.addr)
		}
		for _, bad := range [][]byte{nil, {1, 0x1b}, {2, 0x1b, 3, 0x3b, 0, 0, 0, 0}, {1, 0xff, 3, 0x3b, 0, 0, 0, 0}} {
			if got, err := cfi.FrameAddress(bad, in.opts.HeaderAddr, in.opts.ABI); err == nil {
				t.Errorf("%s: header %x gives %#x", name, bad, got)
			}
		}
	}
}
