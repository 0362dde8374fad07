package pages

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/target"
)

// withHole is memory from the address base on. Nothing is at hole and the 100 bytes behind.
type withHole struct {
	data  []byte
	reads int
}

const (
	base = 0x10_0000
	hole = 21*pageSize + 77
	end  = hole + 100
)

func (m *withHole) ReadMemory(addr uint64, p []byte) (n int, err error) {
	m.reads++
	for ; n < len(p); n++ {
		at := addr + uint64(n) - base
		if at >= uint64(len(m.data)) || at >= hole && at < end {
			return n, target.ErrUnmapped
		}
		p[n] = m.data[at]
	}
	return n, nil
}

// TestPages reads at random what pages keep, and what the memory itself has: all is equal, also how
// much there is before what cannot be read.
func TestPages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := &withHole{data: make([]byte, 80*pageSize+123)}
	for i := range m.data {
		m.data[i] = byte(random.Uint32())
	}
	var s Spare
	for range 2 { // the second time with the same room
		for i := range m.data {
			m.data[i]++ // between two looks memory changes
		}
		p := s.Of(m)
		for range 2_000 {
			addr := base - 100 + random.Uint64N(uint64(len(m.data))+200)
			got, want := make([]byte, random.IntN(12*pageSize)), []byte(nil)
			want = append(want, got...)
			n, err := p.ReadMemory(addr, got)
			other, fails := m.ReadMemory(addr, want)
			if n != other || (err == nil) != (fails == nil) || !bytes.Equal(got[:n], want[:n]) {
				t.Fatalf("%d bytes at %#x: %d and %v, want %d and %v", len(got), addr, n, err, other, fails)
			}
		}
		s.Free(p)
	}
}

// TestReads holds that what is read in a row is read together, that else a page is, and that at
// most mostBytes are kept.
func TestReads(t *testing.T) {
	m := &withHole{data: make([]byte, 17*pageSize)}
	var s Spare
	p := s.Of(m)
	var word [8]byte
	read := func(addr uint64) {
		t.Helper()
		if _, err := p.ReadMemory(addr, word[:]); err != nil {
			t.Fatal(err)
		}
	}
	for addr := uint64(base); addr < base+17*pageSize; addr += 8 {
		read(addr)
	}
	if m.reads != 1+4 {
		t.Errorf("a page and 4 times 4 are read %d times", m.reads)
	}
	s.Free(p)
	p, m.reads = s.Of(m), 0
	for i := uint64(15); i < 17; i -= 2 {
		read(base + i*pageSize)
	}
	if m.reads != 8 || p.used != 8*pageSize {
		t.Errorf("8 pages are read %d times, %d bytes", m.reads, p.used)
	}
	for i := range uint64(2 * mostBytes / pageSize) {
		_, _ = p.ReadMemory(base+i*pageSize, word[:])
	}
	if n := len(p.rooms); n > mostBytes/roomSize {
		t.Errorf("%d MiB are kept", n)
	}
}
