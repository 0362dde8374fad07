package ecma335

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

const testdata = "../../dotnet/testdata"

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzAssembly reads anything as an assembly, on disk and in memory: reading ends, and what it
// finds has its bounds.
func FuzzAssembly(f *testing.F) {
	f.Add(read(f, "stops.dll"), false, uint32(1), uint32(2))
	f.Add(read(f, "embedded/stops.dll"), false, uint32(20), uint32(0x20))
	f.Add(read(f, "stops.dll")[:4000], true, uint32(1), uint32(2))
	f.Fuzz(func(t *testing.T, b []byte, mapped bool, row, il uint32) {
		// DEFLATE makes at most 1032 bytes of one, which are copied as their buffer grows.
		bounds.Hold(t, 1<<20+8*1032*len(b), func() { readAssembly(t, b, mapped, row, il) })
	})
}

func readAssembly(t *testing.T, b []byte, mapped bool, row, il uint32) {
	t.Helper()
	a, err := OpenAssembly(bytes.NewReader(b), mapped)
	if err != nil {
		return
	}
	if d, ok := a.Debug(); ok {
		if m, err := Open(bytes.NewReader(d.Embedded), 0); err == nil {
			ask(t, m, row, il)
		}
	}
	if m, err := a.Metadata(); err == nil {
		ask(t, m, row, il)
	}
}

// FuzzPDB reads anything as a portable PDB.
func FuzzPDB(f *testing.F) {
	f.Add(read(f, "stops.pdb"), uint32(3), uint32(4))
	f.Fuzz(func(t *testing.T, b []byte, row, il uint32) {
		bounds.Hold(t, 1<<20+64*len(b), func() {
			if m, err := Open(bytes.NewReader(b), 0); err == nil {
				ask(t, m, row, il)
			}
		})
	})
}

func ask(t *testing.T, m *Metadata, row, il uint32) {
	t.Helper()
	n := m.Method(row)
	m.Hidden(row)
	file, _ := m.Line(row, il)
	if len(n.Type) > (mostNested+2)*(mostText+64) || len(n.Method) > (mostParams+2)*(mostText+64) || len(file) > mostParts*(mostText+1) {
		t.Errorf("names have %d, %d and %d bytes", len(n.Type), len(n.Method), len(file))
	}
}
