package gomodule

import (
	"bytes"
	"debug/elf"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/sfwalk/sfwalk/target"
)

// releases are small programs of several Go releases, with their tables in .data.rel.ro.
func releases(t testing.TB) (list [][]byte) {
	t.Helper()
	names, _ := filepath.Glob("../../gopclntab/testdata/releases/*.xz")
	for _, name := range names {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := xz.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	if len(list) < 4 {
		t.Fatalf("%d programs", len(list))
	}
	return list
}

// lookAll opens an ELF file's table and looks up functions in it; it returns how many have
// inlined calls.
func lookAll(data []byte) (inlined int) {
	im, err := target.OpenImage(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0
	}
	m := target.NewModule("/hostile", []target.Mapping{{Hi: 1 << 40, Exec: true}}, func() (*target.Image, error) { return im, nil })
	table, _, err := Table(m)
	if err != nil {
		return 0
	}
	for i := range min(table.Len(), 100) {
		if f, ok := table.Func(i); ok {
			for pc := f.Lo; pc < min(f.Hi, f.Lo+400); pc += 20 {
				f.SPDelta(pc)
				if len(f.Inlined(pc)) > 1 {
					inlined++
				}
			}
		}
	}
	return inlined
}

// Wrong bytes anywhere in what is read give fewer answers, and nothing worse.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, whole := range releases(t) {
		best := lookAll(whole)
		if best == 0 {
			t.Fatal("no inlined calls in the undamaged file")
		}
		f, err := elf.NewFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]byte
		damaged := make([]byte, len(whole))
		for _, name := range []string{".data.rel.ro", ".gopclntab", ".noptrdata", ".rela.dyn", ".dynamic", ".go.module"} {
			if s := f.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
				parts = append(parts, damaged[s.Offset:s.Offset+s.FileSize])
			}
		}
		fewer := 0
		for range 500 {
			copy(damaged, whole)
			for range 1 + r.IntN(8) {
				part := parts[r.IntN(len(parts))]
				at := r.IntN(len(part))
				switch r.IntN(3) {
				case 0:
					part[at] = 0xff
				case 1:
					part[at] ^= 1 << r.IntN(8)
				default: // one part in place of another
					copy(part[at:min(at+16, len(part))], whole[r.IntN(len(whole)):])
				}
			}
			if lookAll(damaged) < best {
				fewer++
			}
		}
		if fewer < 50 {
			t.Errorf("%d of the damaged files have fewer inlined calls than the whole one", fewer)
		}
	}
}

func FuzzTable(f *testing.F) {
	for _, data := range releases(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { lookAll(data) })
}
