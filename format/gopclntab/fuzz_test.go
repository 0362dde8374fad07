package gopclntab

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzTable reads all it can from arbitrary bytes. The bytes from base on are their own FUNCDATA.
// What it finds for an address must hold there. The corpus has the tables of testdata/releases with
// their relocations done, and one of them in the other byte order.
func FuzzTable(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, text, base uint64) {
		table, err := Open(data, text)
		if err != nil {
			if !errors.Is(err, ErrNotTable) {
				t.Fatal(err)
			}
			return
		}
		bounds.Hold(t, 16<<20+8<<10*len(data), func() { readAll(t, table, data, base) })
	})
}

func readAll(t *testing.T, table *Table, data []byte, base uint64) {
	table.FuncDataFits(bytes.NewReader(data))
	table.FuncData = bytes.NewReader(data[min(base, uint64(len(data))):])
	for i := range min(table.Len(), 200) {
		f, ok := table.Func(i)
		if !ok {
			continue
		}
		_ = f.Name()
		for _, pc := range []uint64{f.Lo, f.Lo + 7, f.Lo + (f.Hi-f.Lo)/2, f.Hi - 1, f.Hi} {
			checkAt(t, f, pc)
			if found, ok := table.Find(pc); ok {
				if pc < found.Lo || pc >= found.Hi {
					t.Fatalf("Find(%#x) = [%#x, %#x)", pc, found.Lo, found.Hi)
				}
			}
		}
	}
}

func checkAt(t *testing.T, f Func, pc uint64) {
	t.Helper()
	if delta, lo, hi, ok := f.SPDelta(pc); ok && (pc < lo || pc >= hi || lo < f.Lo || hi > f.Hi) {
		t.Fatalf("SPDelta(%#x) = %d for [%#x, %#x)", pc, delta, lo, hi)
	}
	file, line, ok := f.Line(pc)
	if ok && (file == "" || line < 0) {
		t.Fatalf("Line(%#x) = %q:%d", pc, file, line)
	}
	chain := f.Inlined(pc)
	if in := pc >= f.Lo && pc < f.Hi; in != (len(chain) > 0) {
		t.Fatalf("Inlined(%#x) has %d calls", pc, len(chain))
	}
	for i, c := range chain {
		if c.Lo > pc || c.Entry > c.Lo || c.Entry < f.Lo || i == 0 && (c.File != file || ok && c.Line != line) {
			t.Fatalf("Inlined(%#x): %+v, in [%#x, %#x) at %s:%d", pc, c, f.Lo, f.Hi, file, line)
		}
	}
}
