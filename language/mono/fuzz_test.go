package mono

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language/internal/ecma335"
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
	r := &reading{runtime: &runtime{layout: known, modules: &target.Modules{}, root: fuzzBase, assemblies: map[build]lines{}, compiled: map[*target.Module]*compiled{}}, mem: spare.Of(bytesAt(b)), known: map[uint64]*method{}}
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

// files are of testdata: an assembly, and both kinds of lines that it has.
func files(t testing.TB) (assembly, mdb []byte) {
	t.Helper()
	for name, to := range map[string]*[]byte{"stops.exe": &assembly, "stops.exe.mdb": &mdb} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		*to = b
	}
	return assembly, mdb
}

// TestLines holds the lines of an MDB, and of a portable PDB, against what another reader of these
// files has told (testdata/symbols.cs).
func TestLines(t *testing.T) {
	assembly, mdb := files(t)
	other, err := os.ReadFile("testdata/portable/stops.exe")
	if err != nil {
		t.Fatal(err)
	}
	tokens, version := methodsOf(t, assembly)
	others, _ := methodsOf(t, other)
	of := openMDB(mdb, version)
	if of == nil {
		t.Fatalf("the version is not %x", version)
	}
	if openMDB(mdb, [16]byte{1}) != nil || openMDB(mdb[:mdbLeast-1], version) != nil {
		t.Error("lines of another assembly, or cut, are taken")
	}
	b, err := os.ReadFile("testdata/portable/stops.pdb")
	if err != nil {
		t.Fatal(err)
	}
	pdb, err := ecma335.Open(bytes.NewReader(b), 0)
	if err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile("testdata/lines")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(told)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		name := plain(strings.ReplaceAll(words[0], "/", "."))
		il, err := strconv.ParseUint(words[1], 10, 32)
		if err != nil || tokens[name] == 0 || words[2] == "0" {
			continue
		}
		seen++
		for _, c := range []struct {
			of    lines
			token uint32
		}{{of, tokens[name]}, {portable{pdb}, others[name]}} {
			if file, got := c.of.Line(c.token, uint32(il)); strconv.Itoa(got) != words[2] || filepath.Base(file) != "stops.cs" {
				t.Errorf("%T: %s at %d: %s:%d, want %s", c.of, words[0], il, file, got, words[2])
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d lines were compared", seen)
	}
	if file, line := of.Line(1, 0); line != 0 || file != "" {
		t.Errorf("no method: %s:%d", file, line)
	}
}

// methodsOf returns the tokens of an assembly's methods, by names, and the assembly's version.
func methodsOf(t *testing.T, b []byte) (tokens map[string]uint32, version [16]byte) {
	t.Helper()
	pe, err := ecma335.OpenAssembly(bytes.NewReader(b), false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := pe.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	version, ok := m.Version()
	if !ok {
		t.Fatal("the assembly has no version")
	}
	tokens = map[string]uint32{}
	for row := uint32(1); row < 200; row++ {
		if n := m.Method(row); n.Method != "" {
			tokens[plain(n.Type+"."+n.Method)] = 6<<24 | row
		}
	}
	return tokens, version
}

// plain is a name without type parameters and their count.
func plain(name string) string {
	return regexp.MustCompile("`[0-9]+|\\[[^\\]]*\\]").ReplaceAllString(name, "")
}

// FuzzMDB has a file of lines of any content.
func FuzzMDB(f *testing.F) {
	_, mdb := files(f)
	f.Add(mdb, uint32(6<<24|3), uint32(20))
	f.Fuzz(func(t *testing.T, b []byte, token, il uint32) {
		bounds.Hold(t, 1<<20+10*len(b), func() {
			if len(b) < mdbLeast {
				return
			}
			if m := openMDB(b, [16]byte(b[mdbVersion:])); m != nil {
				if file, line := m.Line(token, il); len(file) > mostName || line < 0 {
					t.Errorf("%d bytes, line %d", len(file), line)
				}
			}
		})
	})
}

// TestPoints holds how sequence points are read: the ones of a method of Mono 6.8, whose trace says
// what IL they are of.
func TestPoints(t *testing.T) {
	b := make([]byte, 0x200)
	copy(b, "\x2a\x00\xca\x01\x1c\x32\x48\x2c\x33\x80\x01")
	copy(b[0x40:], "\x28")                                                     // elsewhere
	order.PutUint64(b[0x41:], fuzzBase+1)                                      // at these
	copy(b[0x80:], "\x32\x00\x14\x00\x01\x05\x04\x04\x00\x00\x01\x06\x00\x00") // a debugger's
	b[0x80] = 13<<2 | 3
	r := reads(b)
	for _, c := range []struct {
		at     uint64
		native int64
		il     uint32
		ok     bool
	}{
		{0, 0x64, 0, false}, {0, 0x65, 0, true}, {0, 0x7d, 0, true}, {0, 0x7e, 0xe, true}, {0, 0x94, 0x32, true}, {0, 0xd4, 0x18, true}, {0, 1 << 20, 0x18, true},
		{0x40, 0x7e, 0xe, true}, {0x80, 9, 0, false}, {0x80, 10, 0, true}, {0x80, 12, 2, true}, {0x100, 1 << 20, 0, false},
	} {
		if il, ok := r.offset(fuzzBase+c.at, c.native); il != c.il || ok != c.ok {
			t.Errorf("%#x, %#x: %#x, %t; want %#x, %t", c.at, c.native, il, ok, c.il, c.ok)
		}
	}
}

// FuzzPoints has memory of any content.
func FuzzPoints(f *testing.F) {
	f.Add([]byte("\x2a\x00\xca\x01\x1c\x32\x48\x2c\x33\x80\x01"), int64(0x7e))
	f.Fuzz(func(t *testing.T, b []byte, native int64) {
		bounds.Hold(t, 8<<20+10*len(b), func() { _, _ = reads(b).offset(fuzzBase, native) })
	})
}

// TestCalls holds how the list of methods in a file of compiled code is read.
func TestCalls(t *testing.T) {
	const list = fuzzBase + 0x20
	call := func(b []byte, from, to uint64) []byte {
		return order.AppendUint32(append(b, 0xe8), uint32(to-from-callSize))
	}
	b := make([]byte, 0x20)
	for i, to := range []uint64{0x8000, list, 0x8040, 0x8020} { // the second was not compiled
		b = call(b, list+callSize*uint64(i), to)
	}
	b = append(call(b, list+4*callSize, 0x9000), 0xe8, 0, 0) // beyond the code
	c := &compiled{start: 0x8000, end: 0x9000}
	c.methods = reads(b).readCalls(c, list)
	if want := []ahead{{0, 1}, {0x20, 4}, {0x40, 3}}; !slices.Equal(c.methods, want) {
		t.Errorf("%x, want %x", c.methods, want)
	}
	assembly, _ := files(t)
	pe, err := ecma335.OpenAssembly(bytes.NewReader(assembly), false)
	if err != nil {
		t.Fatal(err)
	}
	if c.names, err = pe.Metadata(); err != nil {
		t.Fatal(err)
	}
	for pc, row := range map[uint64]uint32{0x8000: 1, 0x801f: 1, 0x8020: 4, 0x8fff: 3} {
		n := c.names.Method(row)
		if m := c.method(pc); m == nil || m.name != n.Type+"."+n.Method {
			t.Errorf("%#x: %+v, want %+v", pc, m, n)
		}
	}
	for _, pc := range []uint64{0x7fff, 0x9000} {
		if m := c.method(pc); m != nil {
			t.Errorf("%#x: %+v", pc, m)
		}
	}
}

// FuzzCalls has memory of any content, and code anywhere near.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\xe8\x10\x00\x00\x00\xe8\xfb\xff\xff\xff"), uint64(fuzzBase), uint64(0x100))
	f.Fuzz(func(t *testing.T, b []byte, start, size uint64) {
		bounds.Hold(t, 8<<20+20*len(b), func() {
			c := &compiled{start: start, end: start + size}
			for _, at := range reads(b).readCalls(c, fuzzBase) {
				if uint64(at.begin) >= size {
					t.Errorf("%#x is beyond the code", at.begin)
				}
			}
		})
	})
}

// FuzzImage has an assembly of any content in memory.
func FuzzImage(f *testing.F) {
	assembly, _ := files(f)
	f.Add(assembly)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 8<<20+8*1032*len(b), func() {
			r := reads(b)
			pe, _, _, _ := assemblyOf(inMemory{r.mem, fuzzBase, int64(len(b))}, "")
			if pe != nil {
				pe.Lines("/a.exe", func(string, int64) []byte { return nil })
			}
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
