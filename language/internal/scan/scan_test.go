package scan

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/target"
)

// holes is memory of words that are their own addresses, of which some pages cannot be read.
type holes map[uint64]bool

func (h holes) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for ; n < len(p); n++ {
		at := addr + uint64(n)
		if h[at/page*page] {
			return n, errors.New("it cannot be read")
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], at&^7)
		p[n] = b[at&7]
	}
	return n, nil
}

// TestWords has each word of memory read that can be, with the one behind it.
func TestWords(t *testing.T) {
	list := []target.Mapping{{Lo: 0x1004, Hi: 0x1003c}, {Lo: 0x100000, Hi: 0x100000 + 2*window + 0x3000}, {Lo: 0x700000, Hi: 0x700004}}
	missing := holes{0x3000: true, 0x4000: true, 0x101000: true}
	seen, pairs := map[uint64]bool{}, map[uint64]bool{}
	each := func(at uint64, data []byte) {
		if len(data)%8 != 0 {
			t.Fatalf("%d bytes", len(data))
		}
		for i := 0; i < len(data); i += 8 {
			if binary.LittleEndian.Uint64(data[i:]) != at+uint64(i) {
				t.Fatalf("the word at %#x is another one", at+uint64(i))
			}
			if seen[at+uint64(i)] = true; i > 0 {
				pairs[at+uint64(i)] = true
			}
		}
	}
	var r Room
	if !r.Words(missing, list, 1<<30, each) {
		t.Error("not all was read")
	}
	for _, m := range list {
		for at := (m.Lo + 7) &^ 7; at+8 <= m.Hi; at += 8 {
			if can := !missing[at/page*page]; seen[at] != can {
				t.Errorf("%#x was read: %v", at, seen[at])
			}
			if first := at-8 < m.Lo || missing[(at-8)/page*page]; seen[at] && !first && !pairs[at] {
				t.Errorf("%#x was not read with the word before", at)
			}
		}
	}
	if r.Words(missing, list, 1<<10, func(uint64, []byte) {}) {
		t.Error("more than was allowed")
	}
	if n := 0; !r.Words(missing, nil, 0, func(uint64, []byte) { n++ }) || n > 0 {
		t.Error("there is nothing to read")
	}
}
