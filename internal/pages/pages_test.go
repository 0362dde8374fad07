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
	hole = 5*pagesSize + 77
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
	m := &withHole{data: make([]byte, 20*pagesSize+123)}
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
			got, want := make([]byte, random.IntN(3*pagesSize)), []byte(nil)
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

// TestReads holds that neighbours are read together, and that at most mostPages are kept.
func TestReads(t *testing.T) {
	m := &withHole{data: make([]byte, 4*pagesSize)}
	var s Spare
	p := s.Of(m)
	var word [8]byte
	for addr := uint64(base); addr < base+4*pagesSize; addr += 8 {
		if _, err := p.ReadMemory(addr, word[:]); err != nil {
			t.Fatal(err)
		}
	}
	if m.reads != 4 {
		t.Errorf("4 parts are read %d times", m.reads)
	}
	for i := range uint64(2 * mostPages) {
		_, _ = p.ReadMemory(base+i*pagesSize, word[:])
	}
	if n := len(p.rooms); n > mostPages*pagesSize/roomSize {
		t.Errorf("%d MiB are kept", n)
	}
}
