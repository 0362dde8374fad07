package perfmap

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// plainly returns the names as reading the whole map and looking through it for each address has
// them.
func plainly(text string, addrs []uint64) map[uint64]string {
	names := map[uint64]string{}
	for line := range strings.Lines(text) {
		lo, hi, name, ok := Line([]byte(line))
		if !ok || !strings.HasSuffix(line, "\n") || len(line) > MaxLine {
			continue
		}
		for _, addr := range addrs {
			if lo <= addr && addr < hi {
				names[addr] = string(name[:min(len(name), maxName)])
			}
		}
	}
	return names
}

func TestNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var text strings.Builder
		var addrs []uint64
		for i := range 300 {
			switch r.IntN(12) {
			case 0:
				text.WriteString("no line of a map\n")
			case 1:
				fmt.Fprintf(&text, "0x%x 0x%x %s%d\r\n", r.IntN(4000), r.IntN(900), strings.Repeat("y", r.IntN(3*maxName)), i)
			case 2:
				text.WriteString(strings.Repeat("1", r.IntN(5*MaxLine)) + " 1000 long\n")
			default:
				fmt.Fprintf(&text, "%x %x name %d\n", r.IntN(4000), r.IntN(90), i)
			}
			addrs = append(addrs, uint64(r.IntN(4500)))
		}
		text.WriteString("0 5000 its end is not written yet")
		names, err := Names(strings.NewReader(text.String()), int64(text.Len()), addrs)
		want := plainly(text.String(), addrs)
		if err != nil || len(names) != len(want) {
			t.Fatalf("%d names, want %d; %v", len(names), len(want), err)
		}
		for addr, name := range want {
			if names[addr] != name {
				t.Errorf("%#x: %q, want %q", addr, names[addr], name)
			}
		}
	}
}

// A map may have millions of lines, all of which have all addresses.
func TestManyLines(t *testing.T) {
	text := strings.Repeat("1 fffffffff a\n", 4*maxHits) + "1 fffffffff last\n"
	var addrs []uint64
	for i := range uint64(1 << 16) {
		addrs = append(addrs, 16+i)
	}
	var names map[uint64]string
	bounds.Hold(t, 260<<20, func() { names, _ = Names(strings.NewReader(text), int64(len(text)), addrs) })
	if len(names) != len(addrs) || names[16] != "last" || names[0x8010] != "last" {
		t.Errorf("%d names, %q", len(names), names[16])
	}
}

// hole is a file that has zeros behind its first bytes, terabytes of them.
type hole struct {
	begin []byte
	fill  byte
	read  *int
}

func (h hole) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		p[i] = h.fill
	}
	if at < int64(len(h.begin)) {
		copy(p, h.begin[at:])
	}
	*h.read += len(p)
	return len(p), nil
}

// A map that is a hole is read up to there, and says so. One that claims to be larger than any map
// is read as far as one may be.
func TestHole(t *testing.T) {
	read := 0
	names, err := Names(hole{[]byte("10 10 before\n"), 0, &read}, 8<<40, []uint64{0x18})
	if !errors.Is(err, elffile.ErrHole) || names[0x18] != "before" || read > 1<<20 {
		t.Errorf("%v, %v; %d bytes are read", names, err, read)
	}
	read = 0
	names, err = Names(hole{[]byte("10 10 before\n"), 'x', &read}, 8<<40, []uint64{0x18})
	if err != errLarge || names[0x18] != "before" || read > maxFile+1<<20 {
		t.Errorf("%v, %v; %d bytes are read", names, err, read)
	}
	// What is written after the size was asked for is not read.
	names, err = Names(strings.NewReader("10 10 before\n10 10 after\n"), 13, []uint64{0x18})
	if err != nil || names[0x18] != "before" {
		t.Errorf("%v, %v", names, err)
	}
}

// FuzzNames reads any bytes as a map.
func FuzzNames(f *testing.F) {
	f.Add([]byte("10 10 a\n18 2 b\n0x19 0x1 c d\r\n"))
	f.Add([]byte("1 ffffffffffffffff x\nffffffffffffffff 1 y\n\n \n1 0 z\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		addrs := []uint64{0, 1, 0x18, 0x19, 1 << 63, ^uint64(0)}
		bounds.Hold(t, 1<<20+32*len(data), func() {
			names, err := Names(bytes.NewReader(data), int64(len(data)), addrs)
			want := plainly(string(data), addrs)
			if err != nil && !errors.Is(err, elffile.ErrHole) || err == nil && len(names) != len(want) {
				t.Fatalf("%v, want %v; %v", names, want, err)
			}
			for addr, name := range names {
				if !slices.Contains(addrs, addr) || err == nil && want[addr] != name {
					t.Fatalf("%#x: %q, want %q", addr, name, want[addr])
				}
			}
		})
	})
}
