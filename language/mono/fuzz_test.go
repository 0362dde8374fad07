package mono

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target"
)

const fuzzBase = 0x10000

type bytesAt []byte

func (m bytesAt) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < fuzzBase || addr-fuzzBase >= uint64(len(m)) {
		return 0, target.ErrUnmapped
	}
	if n := copy(p, m[addr-fuzzBase:]); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

// known is the layout of 6.8 and 6.12.
var known = layout{start: 0x10, size: 0x1c, flags: 0x23, notMethods: 0x12, name: 0x18, class: 8, outer: outerOfKnown, image: imageOfKnown}

const codeAt = 0x40000000 // of the seed: 0x20 bytes

// seed is a domain with a table of one chunk with one record, of the method Run of a class Till in
// a class Shop.
func seed() []byte {
	const domain, table, chunk, info, method, inner, outer, texts = 0x10, 0x100, 0x140, 0x380, 0x400, 0x440, 0x4c0, 0x540
	b := make([]byte, 0x600)
	put := func(at int, v uint64) { order.PutUint64(b[at:], v) }
	at := func(offset int) uint64 { return uint64(fuzzBase + offset) }
	put(0, at(domain))
	put(domain+0x28, at(table))
	put(table, at(domain))
	order.PutUint32(b[table+tableChunks:], 1)
	put(table+tableList, at(chunk))
	order.PutUint32(b[chunk+chunkCount:], 1)
	put(chunk+chunkEnd, codeAt+0x20)
	put(chunk+chunkRecords, at(info))
	put(info, at(method))
	put(info+int(known.start), codeAt)
	order.PutUint32(b[info+int(known.size):], 0x20)
	put(method+int(known.class), at(inner))
	put(method+int(known.name), at(texts))
	for _, c := range []struct{ class, outer, name int }{{inner, outer, texts + 4}, {outer, 0, texts + 9}} {
		if c.outer != 0 {
			put(c.class+outerOfKnown, at(c.outer))
		}
		put(c.class+imageOfKnown, at(texts))
		put(c.class+imageOfKnown+classNameBehind, at(c.name))
		put(c.class+imageOfKnown+namespaceBehind, at(texts+14))
	}
	copy(b[texts:], "Run\x00Till\x00Shop\x00Ada\x00")
	return b
}

func reads(b []byte) *reading {
	var spare pages.Spare
	r := &reading{runtime: &runtime{layout: known, root: fuzzBase}, mem: spare.Of(bytesAt(b)), known: map[uint64]*method{}}
	r.find()
	return r
}

// TestSeed holds that the method of the seed is found, so that FuzzTable begins at what is right.
func TestSeed(t *testing.T) {
	r := reads(seed())
	if m := r.at(codeAt + 0x1f); m.name != "Ada.Shop.Till.Run" || m.start != codeAt || m.wrapper || !m.code {
		t.Errorf("%+v", m)
	}
	for _, pc := range []uint64{codeAt - 1, codeAt + 0x20} {
		if m := r.at(pc); m.code {
			t.Errorf("%#x: %+v", pc, m)
		}
	}
}

// FuzzTable has memory of any content.
func FuzzTable(f *testing.F) {
	f.Add(seed(), uint64(codeAt))
	f.Fuzz(func(t *testing.T, b []byte, pc uint64) {
		bounds.Hold(t, 8<<20+100*len(b), func() {
			if m := reads(b).at(pc); len(m.name) > (mostOuter+3)*(mostName+1) {
				t.Errorf("a name of %d bytes", len(m.name))
			}
			_, _ = field(b)
			_, _, _ = flagsOf(b)
		})
	})
}

// TestGetters holds how code of compilers is read.
func TestGetters(t *testing.T) {
	for _, c := range []struct {
		code string
		want uint64
		ok   bool
	}{
		{"\x48\x8b\x47\x18\xc3\x90\x90\x90", 0x18, true},
		{"\x8b\x47\x1c\xc3\x0f\x1f\x40\x00", 0x1c, true},
		{"\x48\x8b\x07\xc3\x90\x90\x90\x90", 0, true},
		{"\x48\x8b\x87\x00\x02\x00\x00\xc3", 0x200, true},
		{"\x48\x8b\x47\x18\x55\x90\x90\x90", 0, false},
		{"\x55\x48\x89\xfd\x53\x48\x83\xec", 0, false},
	} {
		if got, ok := field([]byte(c.code)); ok != c.ok || ok && got != c.want {
			t.Errorf("%x: %#x, %t; want %#x, %t", c.code, got, ok, c.want, c.ok)
		}
	}
	offset, flags, ok := flagsOf([]byte("\x48\x83\xec\x08\x0f\xb6\x47\x23\xa8\x02\x75\x16\xa8\x10\x75\x3a\x48\x8b\x07\x48\x83\xc4\x08\xc3"))
	if offset != 0x23 || flags != 0x12 || !ok {
		t.Errorf("%#x, %#x, %t", offset, flags, ok)
	}
}
