package cfi_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/pages"
)

// reads counts what is read of a file, and fails from an offset on.
type reads struct {
	io.ReaderAt
	bytes int
	end   int64
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.end {
		n, _ := r.ReaderAt.ReadAt(p[:max(r.end-off, 0)], off)
		return n, io.EOF
	}
	r.bytes += len(p)
	return r.ReaderAt.ReadAt(p, off)
}

// A function is 16 bytes of code at an address.
const functionSize = 16

// functions makes .eh_frame and its header for functions, ascending or not.
func functions(starts []uint64) (data []byte, opts cfi.Options) {
	cie := block(u32(0), ehCIE("zR"), 1, 0x1b, ehInitial)
	data = cie
	opts = amd64
	opts.HeaderAddr = 0x100
	opts.Header = join(1, 0xff, 0x03, 0x3b, u32(uint32(len(starts))))
	for _, start := range starts {
		at := len(data)
		data = append(data, block(u32(uint32(at+4)), u32(uint32(start-ehAddr-uint64(at)-8)), u32(functionSize), 0, 0x41, 0x0e, 16)...)
		opts.Header = append(opts.Header, join(u32(uint32(start-0x100)), u32(uint32(ehAddr+at-0x100)))...)
	}
	return data, opts
}

// A look-up by the header reads some pages of a large section, as many as a binary search has
// steps, and an index keeps none but the pages of CIEs.
func TestFewPages(t *testing.T) {
	const n = 100_000
	var starts []uint64
	for i := range uint64(n) {
		starts = append(starts, 0x1000000+i*functionSize)
	}
	data, opts := functions(starts)
	table := &reads{ReaderAt: bytes.NewReader(opts.Header), end: 1 << 40}
	section := &reads{ReaderAt: bytes.NewReader(data), end: 1 << 40}
	opts.HeaderPages = pages.New(table, len(opts.Header))
	s, err := cfi.OpenPages(cfi.EH, pages.New(section, len(data)), ehAddr, opts)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Find(starts[n/3] + 1); err != nil || f.Start != starts[n/3] {
		t.Errorf("FDE at %#x, %v; want %#x", f.Start, err, starts[n/3])
	}
	if table.bytes > 18*pages.Size || section.bytes > 3*pages.Size {
		t.Errorf("one look-up has read %d bytes of the header, %d of the section", table.bytes, section.bytes)
	}
}

// Where a file has become shorter, what is left is found, and no FDE is made of what is not there.
func TestShrunkFile(t *testing.T) {
	const n = 20_000
	var starts []uint64
	for i := range uint64(n) {
		starts = append(starts, 0x1000000+i*functionSize)
	}
	data, opts := functions(starts)
	for _, withHeader := range []bool{true, false} {
		opts := opts
		if !withHeader {
			opts.Header = nil
		}
		end := int64(len(data) / 2 / pages.Size * pages.Size)
		s, err := cfi.OpenPages(cfi.EH, pages.New(&reads{ReaderAt: bytes.NewReader(data), end: end}, len(data)), ehAddr, opts)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.Row(starts[n-1])
		if err == nil {
			t.Errorf("header %v: a row of an FDE that is gone", withHeader)
		}
		if row, _, err := s.Row(starts[n/4]); withHeader && (err != nil || row.Lo != starts[n/4]) {
			t.Errorf("header %v: row %+v, %v of an FDE that is there", withHeader, row, err)
		}
	}
}

// An index of FDEs in any order finds that which starts last, of several at one address the
// longest, and of equally long ones the last.
func TestOrders(t *testing.T) {
	const n = 3000
	cie := block(u32(0), ehCIE("zR"), 1, 0x1b, ehInitial)
	random := rand.New(rand.NewPCG(1, 2))
	orders := map[string]func(i int) uint64{
		"ascending":         func(i int) uint64 { return uint64(i) * 8 },
		"descending":        func(i int) uint64 { return uint64(n-i) * 8 },
		"hot and cold":      func(i int) uint64 { return uint64(i/2*8 + i%2*8*n) },
		"the last is first": func(i int) uint64 { return uint64(i+n-1) % n * 8 },
		"six sections":      func(i int) uint64 { return uint64(i/6*8 + (5-i%6)*8*n) },
		"any":               func(int) uint64 { return random.Uint64N(n) * 8 },
		"one address":       func(int) uint64 { return 0 },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			type fde struct {
				start, size uint64
				offset      int
			}
			var list []fde
			data := bytes.Clone(cie)
			for i := range n {
				f := fde{0x1000000 + order(i), random.Uint64N(12), len(data)}
				list = append(list, f)
				data = append(data, block(u32(uint32(f.offset+4)), u32(uint32(f.start-ehAddr-uint64(f.offset)-8)), u32(uint32(f.size)), 0)...)
			}
			s, err := cfi.Open(cfi.EH, data, ehAddr, amd64)
			if err != nil {
				t.Fatal(err)
			}
			for range 2000 {
				pc := 0x1000000 + random.Uint64N(7*8*n)
				var best fde
				for _, f := range list {
					if f.size > 0 && f.start <= pc && (f.start > best.start || f.start == best.start && f.size >= best.size) {
						best = f
					}
				}
				got, err := s.Find(pc)
				if pc-best.start < best.size {
					if err != nil || got.Offset != best.offset {
						t.Fatalf("Find(%#x): FDE at %#x, %v; want %+v", pc, got.Offset, err, best)
					}
				} else if !errors.Is(err, cfi.ErrNotFound) {
					t.Fatalf("Find(%#x): FDE at %#x, %v; want none", pc, got.Offset, err)
				}
			}
		})
	}
}
