package jitdump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// sparse is a file of Loads, each of whose code is a hole of almost a GiB.
type sparse struct{ header []byte }

const each = 1 << 30

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < HeaderSize {
		copy(p, s.header[at:])
	}
	load := newFile(binary.LittleEndian, elf.EM_X86_64, 0)
	load.Reset()
	const addr = uint64(1 << 32)
	load.put(uint32(Load), uint32(each), uint64(1), uint32(1), uint32(1), addr, addr, uint64(each-100), uint64(1), "f\x00")
	for i := range p {
		if off := (at + int64(i) - HeaderSize) % each; at+int64(i) >= HeaderSize && off < int64(load.Len()) {
			p[i] = load.Bytes()[off]
		}
	}
	return len(p), nil
}

// Code that is a hole takes no memory for its pages.
func TestLargeCode(t *testing.T) {
	const records = 500
	d := New(sparse{newFile(binary.LittleEndian, elf.EM_X86_64, 0).Bytes()}, uint16(elf.EM_X86_64))
	bounds.Hold(t, 4<<20, func() {
		if n, err := d.Read(HeaderSize+records*each, 1<<20); n != records || err != nil {
			t.Errorf("%d records, %v", n, err)
		}
	})
	if c, ok := d.Find(1<<32+12345678, 5); !ok || c.Hi-c.Lo != each-100 {
		t.Errorf("%+v, %v", c, ok)
	}
}

// Find finds what looking through all records does, whatever their times are, and whenever it was
// asked before.
func TestFindAnyTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		f := newFile(binary.LittleEndian, elf.EM_X86_64, 0)
		var now bytes.Reader // what is written by now
		type code struct{ lo, hi, time uint64 }
		var list []code
		d := New(&now, uint16(elf.EM_X86_64))
		for range 5 {
			for range r.IntN(8) {
				lo, n := uint64(1+r.IntN(40)), uint64(1+r.IntN(20))
				if r.IntN(4) == 0 {
					n += 20 << pageBits // it is in no page
				}
				f.time = uint64(r.IntN(20))
				list = append(list, code{lo, lo + n, f.time})
				f.record(Load, uint32(1), uint32(1), lo, lo, n, uint64(0), "f\x00")
			}
			now = *bytes.NewReader(f.Bytes())
			if _, err := d.Read(int64(f.Len()), 100); err != nil {
				t.Fatal(err)
			}
			for range 200 {
				addr, time := uint64(r.IntN(70)), uint64(r.IntN(22))
				var want code
				for _, c := range list {
					if c.lo <= addr && addr < c.hi && c.time <= time {
						want = c
					}
				}
				if got, _ := d.Find(addr, time); got.Lo != want.lo || got.Hi != want.hi || got.Time != want.time {
					t.Fatalf("%#x at %d: %+v, want %+v", addr, time, got, want)
				}
			}
		}
	}
}

// Thousands of pieces of code in one page, none of which has the addresses of a deep stack, take no
// time for each of its frames in each sample.
func TestManyInOnePage(t *testing.T) {
	f := newFile(binary.LittleEndian, elf.EM_X86_64, 0)
	for range 20000 {
		f.load(0, 0x1000, 1, "")
	}
	d := readAll(t, f.Bytes(), elf.EM_X86_64)
	bounds.Hold(t, 1<<20, func() {
		for time := range uint64(100) {
			for addr := uint64(0x1001); addr < 0x2000; addr++ {
				if _, ok := d.Find(addr, time); ok {
					t.Fatalf("%#x has code", addr)
				}
			}
		}
	})
}
