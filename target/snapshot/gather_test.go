package snapshot_test

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Where copies overlap, the first stays.
func TestAddMemory(t *testing.T) {
	// Each address has one byte, which says of which copy it is.
	block := func(lo, hi int, of byte) snapshot.Block {
		return snapshot.Block{Addr: uint64(lo), Data: bytes.Repeat([]byte{of}, hi-lo), Late: of == 'd'}
	}
	for _, tt := range []struct {
		have, add []snapshot.Block
		want      string // from address 0 on
	}{
		{nil, []snapshot.Block{block(4, 6, 'b'), block(0, 2, 'a')}, "aa  bb"},
		{[]snapshot.Block{block(2, 4, 'A')}, []snapshot.Block{block(0, 6, 'b')}, "bbAAbb"},
		{[]snapshot.Block{block(0, 2, 'A'), block(3, 4, 'B')}, []snapshot.Block{block(1, 6, 'c')}, "AAcBcc"},
		{[]snapshot.Block{block(0, 6, 'A')}, []snapshot.Block{block(1, 2, 'c'), block(0, 6, 'd')}, "AAAAAA"},
		{[]snapshot.Block{block(2, 3, 'A')}, []snapshot.Block{block(0, 4, 'c'), block(1, 6, 'd'), block(1, 2, 'e')}, "ccAcdd"},
		{[]snapshot.Block{block(1, 2, 'A')}, []snapshot.Block{block(3, 3, 'c'), {Addr: ^uint64(0), Data: []byte("xyz")}}, " A"},
	} {
		s := snapshot.Snapshot{Memory: tt.have}
		s.AddMemory(tt.add)
		got := []byte("            ")
		at := uint64(0)
		for _, b := range s.Memory {
			if b.Addr < at || b.End() > uint64(len(got)) {
				t.Fatalf("%v is not behind %#x", b, at)
			}
			at = b.End()
			copy(got[b.Addr:], b.Data)
			if len(b.Data) > 0 && b.Late != (b.Data[0] == 'd') {
				t.Errorf("%v is late: %v", b, b.Late)
			}
		}
		if text := strings.TrimRight(string(got), " "); text != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
}

// If threads had different values in a word, the word is late.
func TestMarkOther(t *testing.T) {
	bytesOf := func(text string) []byte { return []byte(strings.ReplaceAll(text, " ", "")) }
	for _, tt := range []struct {
		have  string // from address 0x1004 on
		late  string // the result: * means late
		other []snapshot.Block
	}{
		{"abcd efghijkl mnopqrst uv", ".... ........ ........ ..", nil},
		{"abcd efghijkl mnopqrst uv", ".... ........ ........ ..", []snapshot.Block{{Addr: 0x1006, Data: bytesOf("cdefghijkl")}}},
		{"abcd efghijkl mnopqrst uv", ".... ........ ******** ..", []snapshot.Block{{Addr: 0x1006, Data: bytesOf("cd efghijkl mnoXqrst")}}},
		{"abcd efghijkl mnopqrst uv", "**** ........ ........ **", []snapshot.Block{{Addr: 0x1000, Data: bytesOf("....Xbcd efghijkl")}, {Addr: 0x1019, Data: bytesOf("V......")}}},
		{"abcd efghijkl mnopqrst uv", "**** ******** ******** **", []snapshot.Block{{Addr: 0x1000, Data: make([]byte, 64), Late: true}}},
	} {
		s := snapshot.Snapshot{Memory: []snapshot.Block{{Addr: 0x800, Data: make([]byte, 8)}, {Addr: 0x1004, Data: bytesOf(tt.have)}}}
		s.MarkLate(tt.other)
		var have, late []byte
		for _, b := range s.Memory[1:] {
			if at := uint64(0x1004 + len(have)); b.Addr != at {
				t.Errorf("a block is at %#x, want %#x", b.Addr, at)
			}
			have = append(have, b.Data...)
			late = append(late, bytes.Repeat([]byte{map[bool]byte{true: '*', false: '.'}[b.Late]}, len(b.Data))...)
		}
		if !bytes.Equal(have, bytesOf(tt.have)) || !bytes.Equal(late, bytesOf(tt.late)) {
			t.Errorf("%q: %s, want %s of %s", have, late, tt.late, tt.have)
		}
	}
}

// gathered is the snapshot of a process whose memory is one module, of which there is no file.
func gathered(t testing.TB, mem []byte, before ...snapshot.Block) *snapshot.Snapshot {
	t.Helper()
	memory := memtest.Flat{Lo: text, Data: mem}
	hi := text + max(uint64(len(mem)+0xfff)&^0xfff, 0x1000) // mappings are whole pages
	s := fullSnapshot(amd64.Arch)
	s.Maps = []procmaps.Mapping{{Lo: text, Hi: hi, Read: true, Exec: true, Inode: 1, Path: "/nonexistent/module"}}
	s.Modules, s.Memory, s.Files = nil, before, nil
	mappings := []target.Mapping{{Lo: text, Hi: hi, Exec: true}}
	m := target.NewModule("/nonexistent/module", mappings, func() (*elfimage.Image, error) {
		return elfimage.OpenMapped(memory, text, hi-text)
	})
	m.Image()
	s.Gather(memory, target.NewModules([]*target.Module{m}, nil))
	return s
}

// A module without a file is unwound by its mapped memory, which is all in the snapshot.
func TestGatherMapped(t *testing.T) {
	file, err := os.ReadFile("testdata/nap-amd64.snapshot")
	if err != nil {
		t.Fatal(err)
	}
	nap, err := snapshot.Read(bytes.NewReader(file), int64(len(file)), core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	defer nap.Close()
	mem := make([]byte, 0x3000) // the memory of the program nap
	if n, err := nap.Memory().ReadMemory(0x400000, mem); n < len(mem) {
		t.Fatal(err)
	}
	s := gathered(t, mem)
	// readelf -n prints the same build ID for the program, which was built as README.md says.
	if len(s.Modules) != 1 || s.Modules[0] != (snapshot.Module{Path: "/nonexistent/module", Lo: text, BuildID: "eb8a84148cb4afe6a615287e49fd3866d90a71e0"}) {
		t.Errorf("%+v", s.Modules)
	}
	var got []byte
	for _, b := range s.Memory {
		got = append(got, b.Data...)
	}
	if !bytes.Equal(got, mem) || s.Memory[0].Addr != text {
		t.Errorf("%d bytes, want %d", len(got), len(mem))
	}
	im, _, err := read(t, written(t, s)).Modules().All()[0].Image()
	if err != nil || im.BuildID != s.Modules[0].BuildID {
		t.Errorf("%+v, %v", im, err)
	}
}

// If much is saved of stacks, less is saved of modules without a file.
func TestGatherLittle(t *testing.T) {
	mem := make([]byte, 33<<20)
	code := elftest.File{Machine: elf.EM_X86_64, Sections: []elftest.Section{{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: 64, Data: make([]byte, 16)}}}
	copy(mem, code.Mapped())
	var stacks []snapshot.Block
	for i := range uint64(13) { // 208 MiB, which share one slice
		stacks = append(stacks, snapshot.Block{Addr: 1<<40 + i<<24, Data: mem[:16<<20]})
	}
	for _, tt := range []struct {
		before      []snapshot.Block
		least, most int
	}{{nil, 33 << 20, 34 << 20}, {stacks, 0, 1 << 20}} {
		size := 0
		for _, b := range gathered(t, mem, tt.before...).Memory {
			if b.Addr < 1<<40 {
				size += len(b.Data)
			}
		}
		if size < tt.least || size > tt.most {
			t.Errorf("%d bytes of the module beside %d blocks of stacks, want %d to %d", size, len(tt.before), tt.least, tt.most)
		}
	}
}
