package dwarf

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// FuzzUnits changes units and abbreviations. All that is read lies in the sections.
func FuzzUnits(f *testing.F) {
	x := open(f, gdbtest.Testdata(f, "bin", "steps-v3"))
	f.Add(x.sections["info"], x.sections["abbrev"], false)
	f.Add(x.sections["info"], x.sections["abbrev"], true)
	f.Fuzz(func(t *testing.T, info, abbrev []byte, types bool) {
		const most = 4 // units: each may have another table
		bounds.Hold(t, most*400*len(abbrev)+1<<20, func() {
			all := Units{Order: binary.LittleEndian, Size: uint64(len(info)), Types: types, Read: func(lo, hi uint64) ([]byte, error) { return info[lo:hi], nil }}
			for at, n := uint64(0), 0; at < all.Size && n < most; n++ {
				u, next, err := all.At(at)
				if next <= at || next > all.Size || u.End > 0 && (err != nil || u.Start != at || u.Entry >= u.End || u.End != next) {
					t.Fatalf("%#x: %+v, the next one is at %#x, %v", at, u, next, err)
				}
				if at = next; u.End > 0 && u.Abbrev <= uint64(len(abbrev)) {
					readEntries(t, &u, info[:u.End], abbrev[u.Abbrev:])
				}
			}
		})
	})
}

// readEntries reads the entries of a unit. To go over an entry ends where reading it ends.
func readEntries(t *testing.T, u *Unit, info, abbrev []byte) {
	r := New(abbrev, binary.LittleEndian)
	table, err := ReadAbbrevs(&r, true, u.Encoding, nil, func(int) error { return nil })
	if err != nil || r.Bad {
		return
	}
	c := Cursor{Reader: New(info, binary.LittleEndian), Unit: u}
	for c.Seek(u.Entry); c.More(); {
		code := c.ULEB128()
		a := table.Find(code)
		if a == nil || c.Bad {
			continue
		}
		over := c
		over.SkipTo(a)
		for _, x := range a.Attrs {
			if v := c.Value(x.Form, x.Implicit); v.Class == ClassBlock && !c.Bad {
				if lo, hi := v.Block(); lo > hi || hi > uint64(len(info)) {
					t.Fatalf("a block from %#x to %#x", lo, hi)
				}
			}
		}
		if !c.Bad && (over.Bad || over.Off != c.Off) {
			t.Fatalf("abbreviation %d: it ends at %#x, gone over at %#x: %+v", code, c.Off, over.Off, over.Bad)
		}
	}
}

// FuzzLines changes a line table. Its rows and files are no more than its bytes.
func FuzzLines(f *testing.F) {
	for _, name := range []string{"steps-v3", "mix-v3"} {
		f.Add(open(f, gdbtest.Testdata(f, "bin", name)).sections["line"], uint8(8))
	}
	// A table of DWARF 3, whose program defines a file.
	f.Add([]byte("\x2f\x00\x00\x00\x03\x00\x17\x00\x00\x00\x01\x01\xfb\x0e\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01d\x00\x00a\x00\x01\x00\x00\x00"+
		"\x00\x06\x03b\x00\x01\x00\x00\x04\x02\x13\x00\x01\x01"), uint8(8))
	f.Fuzz(func(t *testing.T, table []byte, addrSize uint8) {
		bounds.Hold(t, 200*len(table)+1<<20, func() {
			size, err := LineTableSize(table[:min(12, len(table))], binary.LittleEndian, uint64(len(table)))
			if err != nil {
				return
			}
			if size > uint64(len(table)) {
				t.Fatalf("%d bytes of %d", size, len(table))
			}
			var l Lines
			if l.Read(table[:size], binary.LittleEndian, int(addrSize)) != nil {
				return
			}
			rows := 0
			for l.Next() != LinesEnd {
				rows++
			}
			if rows > len(table) || len(l.Files)+len(l.Dirs) > len(table)+2 || l.NamesFrom > l.NamesTo || l.NamesTo > len(table) {
				t.Errorf("%d rows, %d files, names from %d to %d of %d bytes", rows, len(l.Files), l.NamesFrom, l.NamesTo, len(table))
			}
			for _, x := range append(l.Files, l.Dirs...) {
				if x.Form == FormString && (x.Name >= size || bytes.IndexByte(table[x.Name:size], 0) < 0) {
					t.Errorf("the name at %#x has no end", x.Name)
				}
			}
		})
	})
}

// FuzzLists changes lists of ranges and of locations, and .debug_aranges. What is found lies in the
// input.
func FuzzLists(f *testing.F) {
	x := open(f, gdbtest.Testdata(f, "bin", "mix-v3"))
	f.Add(x.sections["rnglists"][12:], uint8(0), uint64(0x1000))
	f.Add(x.sections["loclists"][12:], uint8(2), uint64(0x1000))
	f.Add(x.sections["aranges"], uint8(5), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, at uint64) {
		bounds.Hold(t, 1<<20, func() {
			b := Base{Encoding: Encoding{Version: 5, AddrSize: 4 + 4*(kind>>7), OffsetSize: 4}, Addr: at, Index: func(i uint64) (uint64, bool) { return i << 4, i < 1<<16 }}
			r := New(data, binary.LittleEndian)
			found := 0
			count := func(uint64, uint64) bool { found++; return true }
			var code []byte
			switch kind & 0x7f {
			case 0:
				b.Ranges(&r, count)
			case 1:
				b.OldRanges(&r, count)
			case 2:
				code, _ = b.Location(&r, at)
			case 3:
				code, _ = b.OldLocation(&r, at)
			case 4:
				code, _ = b.SplitLocation(&r, at)
			case 5:
				Aranges(data, binary.LittleEndian, func(unit, lo, n uint64) bool { return count(lo, n) })
			}
			if found > len(data) || len(code) > len(data) || r.Off > len(data) {
				t.Errorf("%d ranges, %d bytes of code, of %d bytes", found, len(code), len(data))
			}
		})
	})
}
