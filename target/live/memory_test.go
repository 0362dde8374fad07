package live

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// world is memory of 1 MiB at 0x100000. The value of each byte is a function of its address. The
// pages at multiples of 0x7000 cannot be read.
const worldLo, worldHi = 0x100000, 0x200000

func worldByte(addr uint64) byte { return byte(addr*7 + addr>>12) }

func worldHas(addr uint64) bool {
	return addr >= worldLo && addr < worldHi && addr&^(pageSize-1)%0x7000 != 0
}

func TestMemoryReads(t *testing.T) {
	fetches := 0
	m := &memory{live: &pageCache{fetch: func(addr uint64, p []byte) (int, error) {
		fetches++
		for n := range p {
			if !worldHas(addr + uint64(n)) {
				return n, nil
			}
			p[n] = worldByte(addr + uint64(n))
		}
		return len(p), nil
	}}}
	// The copies differ from the process's present memory.
	for _, lo := range []uint64{0x10a100, 0x180000, 0x181000} {
		b := block{lo: lo, data: make([]byte, 0x1000)}
		for i := range b.data {
			b.data[i] = ^worldByte(lo + uint64(i))
		}
		m.add(b)
	}
	want := func(addr uint64) (byte, bool) {
		for _, b := range m.copies() {
			if addr >= b.lo && addr < b.hi() {
				return ^worldByte(addr), true
			}
		}
		return worldByte(addr), worldHas(addr)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 6000 {
		addr := worldLo - 0x8000 + rnd.Uint64N(worldHi-worldLo+0x10000)
		if rnd.IntN(4) == 0 {
			addr = 0x10a0f0 + rnd.Uint64N(0x1020)
		}
		p := make([]byte, []int{1, 8, 100, 5000, 20000, 70000}[rnd.IntN(6)])
		n, err := m.ReadMemory(addr, p)
		if (err == nil) != (n == len(p)) || err != nil && !errors.Is(err, target.ErrUnmapped) {
			t.Fatalf("read %d bytes at %#x: %d, %v", len(p), addr, n, err)
		}
		for i := range p {
			w, has := want(addr + uint64(i))
			if has != (i < n) {
				t.Fatalf("read %d bytes at %#x: %d, but byte %d there is %v", len(p), addr, n, i, has)
			}
			if !has {
				break
			}
			if p[i] != w {
				t.Fatalf("byte at %#x is %#x, want %#x", addr+uint64(i), p[i], w)
			}
		}
	}

	// Neighbouring words are read from the process once.
	fetches = 0
	m.live.chunks, m.live.next = nil, 0
	m.live.last.Store(nil)
	var word [8]byte
	for at := uint64(0x121000); at < 0x123000; at += 8 {
		if _, err := m.ReadMemory(at, word[:]); err != nil {
			t.Fatal(err)
		}
	}
	if fetches > 2 {
		t.Errorf("%d reads of the process for neighbouring words", fetches)
	}
}

// A bound holds for the memory that is kept of a large process.
func TestPagesBounded(t *testing.T) {
	c := &pageCache{fetch: func(addr uint64, p []byte) (int, error) {
		for i := range p {
			p[i] = worldByte(addr + uint64(i))
		}
		return len(p), nil
	}}
	var b [1]byte
	for i := range uint64(4 * maxChunks) {
		addr := i * 3 * chunkSize
		if _, err := c.read(addr, b[:]); err != nil || b[0] != worldByte(addr) {
			t.Fatal(b, err)
		}
		if len(c.chunks) > maxChunks {
			t.Fatalf("%d chunks are kept", len(c.chunks))
		}
	}
}

func TestMissing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var m memory
		has := make([]bool, 200)
		for round := range 3 {
			var want []span
			wanted := slices.Clone(has)
			for range rnd.IntN(6) {
				lo := rnd.Uint64N(190)
				s := span{lo, lo + rnd.Uint64N(20)}
				s.hi = min(s.hi, 200)
				want = append(want, s)
				for i := s.lo; i < s.hi; i++ {
					wanted[i] = true
				}
			}
			var blocks []block
			for _, s := range missing(m.copies(), want) {
				if s.lo >= s.hi {
					t.Fatalf("round %d: empty %v", round, s)
				}
				blocks = append(blocks, block{lo: s.lo, data: make([]byte, s.hi-s.lo)})
				for i := s.lo; i < s.hi; i++ {
					if has[i] || !wanted[i] {
						t.Fatalf("round %d: %d is copied twice or was not wanted", round, i)
					}
					has[i] = true
				}
			}
			if !slices.Equal(has, wanted) {
				t.Fatalf("round %d: not all is copied", round)
			}
			m.add(blocks...)
		}
	}
}

func TestFit(t *testing.T) {
	for _, n := range []int{1, 5, 100, 3000} {
		for _, size := range []uint64{4096, 1 << 20, 1 << 30} {
			spans := make([]span, n)
			for i := range spans {
				spans[i] = span{uint64(i) << 40, uint64(i)<<40 + size}
			}
			fit(spans, copyLimit)
			total := uint64(0)
			for i, s := range spans {
				if s.lo != uint64(i)<<40 || s.hi <= s.lo {
					t.Fatalf("span %d of %d is %v", i, n, s)
				}
				total += s.hi - s.lo
			}
			if total > copyLimit || size*uint64(n) <= copyLimit && total != size*uint64(n) {
				t.Errorf("%d spans of %d bytes: %d bytes are left", n, size, total)
			}
		}
	}
}

func TestStackSpan(t *testing.T) {
	maps := []procmaps.Mapping{
		{Lo: 0x10000, Hi: 0x20000, Read: true, Write: true, Path: "[heap]"},
		{Lo: 0x1000000, Hi: 0x1001000}, // guard
		{Lo: 0x1001000, Hi: 0x1801000, Read: true, Write: true},
		{Lo: 0x40000000, Hi: 0x80000000, Read: true, Write: true}, // an arena
		{Lo: 0x7ff00000, Hi: 0x8ff00000, Read: true, Write: true, Path: "[stack]"},
		{Lo: 0x8ff00000, Hi: 0x90000000, Read: true, Write: true, Exec: true, Path: "[stack]"},
	}
	maps[4].Lo = 0x80000000
	for _, c := range []struct {
		sp   uint64
		want span
		ok   bool
	}{
		{0x1f000, span{0x1ef80, 0x20000}, true},
		{0x10010, span{0x10000, 0x20000}, true},                        // the red zone ends with the mapping
		{0x1000ff8, span{0x1001000, 0x1101000}, true},                  // overflown into the guard
		{0x1001000, span{0x1001000, 0x1101000}, true},                  // the inner part of a deep stack
		{0x50000000, span{0x4fffff80, 0x4fffff80 + stackWindow}, true}, // somewhere in an arena
		{0x7fffff00, span{0x7ffffe80, 0x80000000}, true},               // at the end of an arena
		{0x88000000, span{0x87ffff80, 0x880fff80}, true},               // the same of the main stack
		{0x2000000, span{}, false},                                     // nothing
		{^uint64(0) - 7, span{}, false},
		{0, span{0x10000, 0x20000}, true},
	} {
		if got, ok := stackSpan(maps, c.sp, 128, stackCopy); got != c.want || ok != c.ok {
			t.Errorf("SP %#x: %#x, %v, want %#x, %v", c.sp, got, ok, c.want, c.ok)
		}
	}
}

func TestWindowIsOfCopy(t *testing.T) {
	var m memory
	m.add(block{lo: 0x1000, data: []byte("abcdef")})
	if lo, data := m.Window(0x1002); lo != 0x1000 || !bytes.Equal(data, []byte("abcdef")) {
		t.Errorf("%#x, %q", lo, data)
	}
	for _, addr := range []uint64{0xfff, 0x1006} {
		if _, data := m.Window(addr); data != nil {
			t.Errorf("what was not copied, at %#x, is lent", addr)
		}
	}
}

// A thread that has a last turn while its memory is read stands still afterwards. One that has a
// turn at each look does not, and neither does one that has a turn after other memory was read.
func TestLastTurn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		turns []string // before which the thread has a turn, in this order
		moved bool
	}{
		{"none", nil, false},
		{"before the look", []string{"look"}, false},
		{"before the read", []string{"read"}, false},
		{"always", []string{"look", "look", "look", "look"}, true},
		{"between two reads", []string{"read", "later read"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now, later, left := uint64(7), "", tt.turns
			before := func(what string) {
				if len(left) > 0 && left[0] == later+what {
					now, left = now+1, left[1:]
				}
			}
			v := &view{memory: &memory{
				live:  &pageCache{fetch: func(addr uint64, p []byte) (int, error) { before("read"); return len(p), nil }},
				maps:  []procmaps.Mapping{{Lo: worldLo, Hi: worldHi, Write: true}},
				turns: func(int) uint64 { return now },
				there: func(*view) bool { before("look"); return true },
				same:  func(*view) bool { return true },
			}}
			v.memory.left.Store(worldHi - worldLo)
			for _, addr := range []uint64{worldLo, worldHi - 8} {
				if n, err := v.ReadMemory(addr, make([]byte, 8)); n != 8 || err != nil {
					t.Errorf("%#x: %d, %v", addr, n, err)
				}
				later = "later "
			}
			if v.moved.Load() != tt.moved || len(left) > 0 {
				t.Errorf("moved on: %v, want %v; %q have not come", v.moved.Load(), tt.moved, left)
			}
		})
	}
}

// copied returns the copied bytes from addr on, up to the first gap.
func copied(m *memory, addr uint64) []byte {
	if lo, data := m.Window(addr); data != nil {
		return data[addr-lo:]
	}
	return nil
}

// The code behind one call costs one page, and neighbouring code one more system call, whatever can
// be read there.
func TestPagesRead(t *testing.T) {
	var reads []span
	c := &pageCache{fetch: func(addr uint64, p []byte) (int, error) {
		reads = append(reads, span{addr, addr + uint64(len(p))})
		for i := range p {
			if (addr+uint64(i))/pageSize == 0x123 { // not readable
				return i, nil
			}
			p[i] = worldByte(addr + uint64(i))
		}
		return len(p), nil
	}}
	for _, step := range []struct {
		addr  uint64
		there bool
		want  []span
	}{
		{0x121ff8, true, []span{{0x121000, 0x122000}}},
		{0x121000, true, nil},
		{0x120010, true, []span{{0x120000, 0x121000}}},
		{0x122000, true, []span{{0x122000, 0x124000}}},
		{0x123008, false, nil},
		{0x127000, true, []span{{0x127000, 0x128000}}},
		{0x124000, true, []span{{0x124000, 0x127000}}},
		{0x126ff0, true, nil},
	} {
		reads = nil
		var b [8]byte
		n, err := c.read(step.addr, b[:])
		if (err == nil) != step.there || (n == 8) != step.there || step.there && b[7] != worldByte(step.addr+7) {
			t.Errorf("%#x: %d bytes, %v", step.addr, n, err)
		}
		if !slices.Equal(reads, step.want) {
			t.Errorf("%#x: reads %#x; want %#x", step.addr, reads, step.want)
		}
	}
}
