package breakpad

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// indexed indexes the text of a symbol file.
func indexed(t testing.TB, text string) *File {
	t.Helper()
	f, err := New(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// In dump_syms's file, each instruction is at the lines and in the inlined calls that addr2line
// finds in the program.
func TestLocate(t *testing.T) {
	f, err := Open("testdata/inlines.sym")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	golden, err := os.ReadFile("testdata/inlines.addr2line")
	if err != nil {
		t.Fatal(err)
	}
	var addr string
	want := make(map[string][]string)
	lines := strings.Split(strings.TrimSpace(string(golden)), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "0x") {
			addr = lines[i]
			continue
		}
		where, _, _ := strings.Cut(lines[i+1], " (discriminator")
		want[addr] = append(want[addr], lines[i]+" "+where)
		i++
	}
	inlined := 0
	for addr, want := range want {
		pc, err := strconv.ParseUint(addr, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := f.Locate(pc)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, l := range chain {
			got = append(got, fmt.Sprintf("%s %s:%d", l.Function, l.File, l.Line))
			if l.Inlined != (i < len(chain)-1) || !l.Code.Contains(pc) {
				t.Errorf("%s: %+v", addr, l)
			}
		}
		inlined += len(got) - 1
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, addr2line has %q", addr, got, want)
		}
	}
	if inlined < 10 {
		t.Errorf("%d inlined calls", inlined)
	}
}

func TestStorePath(t *testing.T) {
	f, err := Open("testdata/inlines.sym")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// readelf -n inlines
	if id := BuildIDIdentifier([]byte("\xdd\xce\xd9\x30\x0d\x7b\x46\x5a\xc6\xe6\xc9\x5d\x2b\xb2\x82\x50\xd4\x72\x36\x7e")); id != f.Module.ID {
		t.Errorf("the identifier of the build ID is %s, dump_syms wrote %s", id, f.Module.ID)
	}
	if path, err := f.Module.StorePath(); err != nil || path != "inlines/30D9CEDD7B0D5A46C6E6C95D2BB282500/inlines.sym" {
		t.Errorf("%s, %v", path, err)
	}
	if path, err := (Module{Name: "ntdll.pdb", ID: "A1"}).StorePath(); err != nil || path != "ntdll.pdb/A1/ntdll.sym" {
		t.Errorf("%s, %v", path, err)
	}
	for _, m := range []Module{{Name: "..", ID: "1"}, {Name: "a", ID: ".."}, {Name: "a/b", ID: "1"}, {Name: `a\b`, ID: "1"}, {Name: "", ID: "1"}, {Name: "a"}} {
		if path, err := m.StorePath(); err == nil {
			t.Errorf("%+v: %s", m, path)
		}
	}
}

const stackRecords = `MODULE windows x86 1 a.pdb
FUNC 100 10 4 f
PUBLIC 200 8 p
PUBLIC 0 0 _CIlog
STACK WIN 0 100 40 0 0 4 8 c 0 0 1
STACK WIN 4 110 10 0 0 4 0 0 0 1 $eip 4 + ^ =
STACK WIN 4 118 4 0 0 4 0 0 0 1 inner
STACK WIN 2 300 10 0 0 4 0 0 0 1 other
STACK CFI INIT 400 20 a
STACK CFI 410 c
STACK CFI 404 b
STACK CFI INIT 420 10 d
FUNC 300 10 0 g
`

func TestStack(t *testing.T) {
	f := indexed(t, stackRecords)
	for addr, want := range map[uint64]string{
		0xff: "", 0x100: "fpo", 0x110: "$eip 4 + ^ =", 0x117: "$eip 4 + ^ =", 0x118: "inner", 0x11b: "inner", 0x11c: "$eip 4 + ^ =",
		0x120: "fpo", 0x13f: "fpo", 0x140: "", 0x300: "",
	} {
		w, err := f.Win(addr)
		got := ""
		if w != nil {
			if got = w.Program; w.Type == FPO && w.AllocatesBasePtr && w.LocalSize == 12 {
				got = "fpo"
			}
		}
		if err != nil || got != want {
			t.Errorf("STACK WIN at %#x: %q, %v; want %q", addr, got, err, want)
		}
	}
	for addr, want := range map[uint64]string{0x3ff: "", 0x400: "abc", 0x41f: "abc", 0x420: "d", 0x430: ""} {
		cfi, err := f.CFI(addr)
		got := ""
		if cfi != nil {
			got = cfi.Rules
			for _, c := range cfi.Changes {
				got += c.Rules
			}
		}
		if err != nil || got != want {
			t.Errorf("STACK CFI at %#x: %q, %v; want %q", addr, got, err, want)
		}
	}
	// "the code extends to the next address mentioned"; a symbol at 0 is none.
	for addr, want := range map[uint64]string{0x50: "", 0xff: "", 0x100: "f", 0x110: "", 0x200: "p", 0x2ff: "p", 0x300: "g", 0x310: ""} {
		chain, err := f.Locate(addr)
		got := ""
		if len(chain) > 0 {
			got = chain[0].Function
		}
		if err != nil || got != want {
			t.Errorf("at %#x: %q, %v; want %q", addr, got, err, want)
		}
	}
	if c := f.Counts(); c != (Counts{Funcs: 2, Publics: 1, CFI: 2, FrameData: 2, FPO: 1}) {
		t.Errorf("%+v", c)
	}
}

// Functions that overlap, in a file of several blocks: each look-up is compared with a search
// through all.
func TestFindRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 1))
	var text bytes.Buffer
	text.WriteString("MODULE Linux x86_64 1 many\n")
	var all []Func
	for i := range 40000 {
		fn := Func{Address: random.Uint64N(1 << 20), Size: 1 + random.Uint64N(1<<random.IntN(14)), Name: fmt.Sprint("f", i)}
		all = append(all, fn)
		fmt.Fprintf(&text, "FUNC %x %x 0 %s\n%x 1 %d 0\nPADDING %s\n", fn.Address, fn.Size, fn.Name, fn.Address, i+1, strings.Repeat("x", random.IntN(100)))
	}
	if text.Len() < 2*blockSize {
		t.Fatalf("%d bytes are less than three blocks", text.Len())
	}
	f := indexed(t, text.String())
	ranges := map[Range]bool{} // the first of several functions of one range hides the others
	for _, fn := range all {
		ranges[Range{fn.Address, fn.Size}] = true
	}
	if c := f.Counts(); c != (Counts{Funcs: len(ranges), Unknown: len(all)}) {
		t.Errorf("%+v", c)
	}
	for range 2000 {
		addr := random.Uint64N(1 << 20)
		var want *Func
		for i := range all {
			fn := &all[i]
			if addr-fn.Address < fn.Size && (want == nil || fn.Address > want.Address || fn.Address == want.Address && fn.Size < want.Size) {
				want = fn
			}
		}
		got, err := f.Func(addr)
		switch {
		case err != nil:
			t.Fatal(err)
		case got == nil && want == nil:
		case got == nil || want == nil || got.Func != *want:
			t.Fatalf("%#x: %+v, want %+v", addr, got, want)
		case len(got.Lines) != 1 || fmt.Sprint("f", got.Lines[0].Line-1) != got.Name:
			t.Fatalf("%+v has the lines %v", got.Func, got.Lines)
		}
	}
}

// A malformed line costs itself and a warning with its number, also far behind the first block.
func TestWarnings(t *testing.T) {
	filler := strings.Repeat("1 1 1 1\n", blockSize/8+1000)
	f := indexed(t, "MODULE Linux x86_64 1 a\nFUNC 10 z 0 f\n"+filler+"FUNC 20 4 0 g\n20 x 1 1\n21 1 7 1\nSTACK CFI INIT 1\n")
	want := fmt.Sprintf(`[line 2: size "z" line %d: no size]`, 2+blockSize/8+1000+4)
	if got := fmt.Sprint(f.Warnings); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	fn, err := f.Func(0x21)
	if err != nil || fn == nil || len(fn.Lines) != 1 || fn.Lines[0].Line != 7 || fmt.Sprint(fn.Warnings) != `[g: size "x"]` {
		t.Errorf("%+v, %v", fn, err)
	}
	if c := f.Counts(); c.Malformed != 2 {
		t.Errorf("%+v", c)
	}
}

func TestNoSymbolFile(t *testing.T) {
	for _, text := range []string{"", "\x7fELF", "FUNC 1 1 0 f\n", "\nMODULE Linux x86 1 a\n"} {
		if _, err := New(strings.NewReader(text), int64(len(text))); !errors.Is(err, ErrNoModule) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := New(strings.NewReader("MODULE Linux\n"), 13); err == nil || err.Error() != "line 1: no architecture" {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// A file that is not what was indexed gives errors.
func TestChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sym")
	if err := os.WriteFile(path, []byte(stackRecords), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, bytes.Repeat([]byte("INFO \n"), len(stackRecords)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, look := range map[string]func() error{
		"Func":   func() error { _, err := f.Func(0x100); return err },
		"Public": func() error { _, err := f.Public(0x200); return err },
		"CFI":    func() error { _, err := f.CFI(0x400); return err },
		"Win":    func() error { _, err := f.Win(0x100); return err },
		"Locate": func() error { _, err := f.Locate(0x100); return err },
	} {
		if err := look(); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(strings.NewReader(stackRecords), int64(len(stackRecords))+1000); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// Equal records take no more memory than one: a compressed file of less than a megabyte may have a
// hundred million of them.
func TestEqualRecords(t *testing.T) {
	const n = 3 * blockSize / 100
	text := "MODULE Linux x86_64 1 many\nFUNC 10 8 0 first\n" + strings.Repeat("FILE 1 a.c\nINLINE_ORIGIN 1 a\nFUNC 10 8 0 later\nPUBLIC 40 0 p\nSTACK CFI INIT 10 8 .ra: x\n"+
		"STACK WIN 4 10 8 0 0 0 0 0 0 1 x\nSTACK WIN 0 10 8 0 0 0 0 0 0 0 1\n", n)
	f := indexed(t, text)
	if len(text) < 3*blockSize {
		t.Fatalf("%d bytes are less than four blocks", len(text))
	}
	if c := f.Counts(); c != (Counts{1, 1, 1, 1, 1, 1, 1, 0, 0}) {
		t.Errorf("%+v", c)
	}
	if at, err := f.Locate(0x11); err != nil || len(at) != 1 || at[0].Function != "first" {
		t.Errorf("%+v, %v", at, err)
	}
	blocks := make([]block, (f.size+blockSize-1)/blockSize)
	if err := f.indexAll(blocks); err != nil {
		t.Fatal(err)
	}
	for i := range blocks {
		if b := &blocks[i]; cap(b.funcs)+cap(b.cfi)+cap(b.frameData)+cap(b.fpo) > 16 || cap(b.publics)+cap(b.files)+cap(b.origins) > 16 {
			t.Errorf("block %d keeps %d and %d records", i, cap(b.funcs), cap(b.files))
		}
	}
}
