package elfimage

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// The GNU hash table leads to all dynamic symbols that debug/elf reads, and to no others; without
// it, a search of the names does.
func TestHashed(t *testing.T) {
	data, err := os.ReadFile(gdbtest.File(t, libc))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
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
