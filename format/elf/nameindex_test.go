package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The index of names leads to the symbols that debug/elf has by these names, and to no others.
func TestNameIndex(t *testing.T) {
	name := gdbtest.Build(t, "gotarget")
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]int)
	for i, s := range list {
		if s.Section != elf.SHN_UNDEF && s.Name != "" {
			want[s.Name] = append(want[s.Name], i+1) // debug/elf leaves out the first symbol
		}
		want[s.Name+"?"] = nil
	}
	table, err := openFile(t, name).openSymbolTable(elf.SHT_SYMTAB)
	if err != nil || table == nil {
		t.Fatalf("no symbol table: %v", err)
	}
	for range manyScans {
		if table.index() != nil {
			t.Fatal("there is an index before many names are looked up")
		}
	}
	x := table.index()
	if x == nil || table.index() != x {
		t.Fatal("there is no index when many names are looked up, or there are two")
	}
	for name, at := range want {
		if got := x.called(table, name); !slices.Equal(got, at) {
			t.Errorf("%s: symbols %d, want %d", name, got, at)
		}
	}
}

// A file whose names lie in each other gets no index, for which all would be read: a megabyte for
// each symbol. Its names are found all the same.
func TestNameIndexOfOverlappingNames(t *testing.T) {
	const symbols = 10_000
	names := append([]byte{0}, append(bytes.Repeat([]byte("a"), 1<<20), 0)...)
	entries := make([]byte, symbols*symbolSize64)
	for i := range symbols {
		e := entries[i*symbolSize64:]
		binary.LittleEndian.PutUint32(e, uint32(1+i))
		e[4] = uint8(elf.STT_FUNC)
		binary.LittleEndian.PutUint16(e[6:], 1)
	}
	part := func(b []byte) part { return part{ReaderAt: bytes.NewReader(b), size: int64(len(b))} }
	im := &Image{Class: elf.ELFCLASS64, Order: binary.LittleEndian, there: 2 << 20}
	table := &symbolTable{im: im, entries: part(entries), strings: newStringTable(part(names), nil)}
	longest := string(names[1 : len(names)-1])
	for range manyScans + 2 {
		if got := table.called(longest); !slices.Equal(got, []int{0}) {
			t.Fatalf("the first name belongs to symbols %d", got)
		}
	}
	if table.names != nil {
		t.Error("there is an index")
	}
}
