package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// libcSymbols returns the bytes of the C library, and what debug/elf reads of them.
func libcSymbols(t *testing.T) (data []byte, f *elf.File, list []elf.Symbol) {
	t.Helper()
	data, err := os.ReadFile(gdbtest.File(t, libc))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = elf.NewFile(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if list, err = f.DynamicSymbols(); err != nil {
		t.Fatal(err)
	}
	return data, f, list
}

// The GNU hash table leads to all dynamic symbols that debug/elf reads, and to no others; without
// it, a search of the names does.
func TestHashed(t *testing.T) {
	data, _, list := libcSymbols(t)
	want := make(map[string]int)
	for _, s := range list {
		if s.Section != elf.SHN_UNDEF {
			want[s.Name]++
		} else {
			want[s.Name] += 0
		}
	}
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := im.openSymbolTable(elf.SHT_DYNSYM)
	if err != nil || table == nil {
		t.Fatal(err)
	}
	want["no such function"] = 0
	for name, n := range want {
		if found, ok := table.hashed(name); !ok || len(found) != n {
			t.Errorf("%s: the hash table has it %d times (%v), want %d", name, len(found), ok, n)
		}
	}
	if len(want) < 1000 {
		t.Errorf("%s has %d names", libc, len(want))
	}
}

// A hash table that is damaged is of no use, or has the name or not; what it leads to has the name.
func TestHashedDamaged(t *testing.T) {
	data, err := os.ReadFile(gdbtest.File(t, libc))
	if err != nil {
		t.Fatal(err)
	}
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3000 {
		table, err := im.openSymbolTable(elf.SHT_DYNSYM)
		if err != nil {
			t.Fatal(err)
		}
		hash := bytes.Clone(table.hash.data)
		if n < 64*8 {
			hash[n/8%16] ^= 1 << (n % 8)
		}
		for at := 16 + n; at < len(hash); at += 3000 {
			hash[at] = byte(n)
		}
		table.hash = inMemory(hash)
		found, _ := table.hashed("malloc")
		for _, i := range found {
			if r, ok := table.symbol(i); !ok || !table.strings.is(r.name, "malloc") {
				t.Fatalf("damage %d: symbol %d is not malloc", n, i)
			}
		}
		table.hash = inMemory(hash[:n%len(hash)])
		table.hashed("free")
	}
}

// A hash table that breaks its own rules is of no use, on hosts of 32 bits, too: the name is found
// without it.
func TestHashedUseless(t *testing.T) {
	data, f, list := libcSymbols(t)
	want := list[slices.IndexFunc(list, func(s elf.Symbol) bool { return s.Name == "malloc" })].Value
	section := f.Section(".gnu.hash")
	order := f.ByteOrder
	for name, damage := range map[string]func(hash []byte){
		"no buckets":               func(hash []byte) { order.PutUint32(hash, 0) },
		"no Bloom filter":          func(hash []byte) { order.PutUint32(hash[8:], 0) },
		"a first symbol too high":  func(hash []byte) { order.PutUint32(hash[4:], 0xffffffff) },
		"all symbols are left out": func(hash []byte) { order.PutUint32(hash[4:], uint32(len(list)+1)) },
		"chains without an end": func(hash []byte) {
			buckets, blooms := order.Uint32(hash), order.Uint32(hash[8:])
			for at := 16 + 8*blooms + 4*buckets; at < uint32(len(hash)); at += 4 {
				hash[at] &^= 1
			}
		},
	} {
		damaged := bytes.Clone(data)
		damage(damaged[section.Offset:][:section.FileSize])
		im, err := Open(bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			t.Fatal(err)
		}
		if got := im.Lookup("malloc", 9); len(got) != 1 || got[0].Addr != want {
			t.Errorf("%s: %+v; want %#x", name, got, want)
		}
	}
}

// Defined symbols before the first one that the hash table has are found, too.
func TestHashedBefore(t *testing.T) {
	order := binary.LittleEndian
	names := []byte("\x00before\x00printf\x00")
	entries := make([]byte, 3*symbolSize64)
	for i, name := range []uint32{1, 8} {
		e := entries[(i+1)*symbolSize64:]
		order.PutUint32(e, name)
		e[4] = uint8(elf.STT_FUNC)
		order.PutUint16(e[6:], 1)
	}
	var hash []byte
	for _, v := range []uint32{1, 2, 1, 6, ^uint32(0), ^uint32(0), 2, 0x156b2bb8 | 1} { // one bucket, one chain
		hash = order.AppendUint32(hash, v)
	}
	im := &Image{Class: elf.ELFCLASS64, Order: order}
	windows := part{ReaderAt: bytes.NewReader(entries), size: int64(len(entries))}
	for _, entries := range []part{inMemory(entries), windows} {
		table := &symbolTable{im: im, entries: entries, strings: newStringTable(inMemory(names), nil), hash: inMemory(hash)}
		for name, want := range map[string][]int{"before": {1}, "printf": {2}, "efore": nil} {
			if got, ok := table.hashed(name); !ok || !slices.Equal(got, want) {
				t.Errorf("%s: symbols %d, %v; want %d", name, got, ok, want)
			}
		}
	}
}
