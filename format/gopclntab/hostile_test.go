package gopclntab

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// madeUp returns a table of Go 1.20 whose functions share their tables of values. These have the
// given number of runs, each for one byte of code. calls has one call for each run. Each call is
// inlined into the one before.
func madeUp(functions, runs int) (data, calls []byte) {
	const header, funcSize = 8 + 8*8, 44 + 3*4 + 4*4
	order := binary.LittleEndian
	values := []byte{0}
	add := func(f func(i int) byte) uint32 {
		at := uint32(len(values))
		for i := range runs {
			values = append(values, f(i), 1)
		}
		values = append(values, 0)
		return at
	}
	// Differences are zigzag numbers: 1 for -1, 2 for +1, 4 for +2. The first is from -1.
	alternate := func(first byte) uint32 {
		return add(func(i int) byte { return []byte{1, 2, first}[min(2*max(1-i, 0)+i%2, 2)] })
	}
	lines, files := alternate(4), alternate(2)
	inlined := add(func(i int) byte { return byte(min(2*i, 2)) })
	parts := [5][]byte{[]byte("\x00main.main\x00"), make([]byte, 2*4), []byte("main.go\x00"), values}
	table := &parts[4]
	for i := range functions {
		*table = order.AppendUint32(*table, uint32(i*runs))
		*table = order.AppendUint32(*table, uint32(8*functions+4+i*funcSize))
	}
	*table = order.AppendUint32(*table, uint32(functions*runs))
	for i := range functions {
		f := []uint32{uint32(i * runs), 1, 0, 0, 0, files, lines, 3, 0, 1, 0x04000000, 0, 0, inlined, ^uint32(0), ^uint32(0), ^uint32(0), 0}
		for _, v := range f {
			*table = order.AppendUint32(*table, v)
		}
	}
	data = order.AppendUint32(nil, 0xfffffff1)
	data = append(data, 0, 0, 1, 8)
	data = order.AppendUint64(order.AppendUint64(order.AppendUint64(data, uint64(functions)), 1), 0)
	at := header
	for _, p := range parts {
		data = order.AppendUint64(data, uint64(at))
		at += len(p)
	}
	for _, p := range parts {
		data = append(data, p...)
	}
	for i := range runs {
		for _, v := range []uint32{0, 1, uint32(i), 0} {
			calls = order.AppendUint32(calls, v)
		}
	}
	return data, calls
}

// A table that is made to be slow still takes bounded time: each look-up of an address reads tables
// of values from their beginning.
func TestHostileTable(t *testing.T) {
	const size = 60000
	for _, tt := range []struct {
		name             string
		functions, calls int
		fits             bool
	}{
		{"a large function", 1, size, true},
		{"many functions, whose calls are not there", 10000, 0, false},
	} {
		data, calls := madeUp(tt.functions, size)
		table, err := Open(data, 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		bounds.Hold(t, 256<<20, func() {
			if fits := table.FuncDataFits(bytes.NewReader(calls[:16*tt.calls])); fits != tt.fits {
				t.Errorf("%s: the tree fits: %t", tt.name, fits)
			}
		})
		table.FuncData = bytes.NewReader(calls)
		bounds.Hold(t, 256<<20, func() {
			f, ok := table.Func(0)
			if !ok || f.Hi-f.Lo != size {
				t.Fatalf("%s: %+v", tt.name, f)
			}
			if chain := f.Inlined(f.Hi - 1); len(chain) != maxDepth+1 || chain[0].Function != "main.main" || chain[0].File != "main.go" || chain[0].Line < 1 {
				t.Errorf("%s: %d calls: %+v", tt.name, len(chain), chain[0])
			}
		})
	}
}
