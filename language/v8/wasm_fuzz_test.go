package v8

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// makeModule makes V8's record of a module, at heapAt, with two pieces of code, of the functions 7
// and 9. The one that begins at pc-16 is in the map, the other one in the array behind it. In the
// first, function 4 is inlined at pc, within function 3, which has left by a tail call. The map is
// as one of the libraries of C++ makes it.
func makeModule(llvm bool) (data []byte, pc uint64) {
	const root, node, first, second, array, tables = 64, 256, 384, 512, 640, 704
	data = make([]byte, 1024)
	put := func(at int, words ...uint64) {
		for i, v := range words {
			binary.LittleEndian.PutUint64(data[at+8*i:], v)
		}
	}
	pc = heapAt + 0x10000
	if llvm {
		put(root-8, heapAt+node, heapAt+node, 1, heapAt+array, heapAt+array+8)
		put(node, 0, 0, heapAt+root, 1, pc-16, heapAt+first)
	} else {
		put(root-8, 0, heapAt+node, heapAt+node, heapAt+node, 1, heapAt+array, heapAt+array+8)
		put(node, 0, heapAt+root-8, 0, 0, pc-16, heapAt+first)
	}
	put(array, heapAt+second)
	code := func(at int, lo, index, positions, inlined uint64) {
		put(at, heapAt, lo, 0, heapAt+tables, 64, positions|inlined<<32, 0, index)
	}
	code(first, pc-16, 7, 8, 26)
	code(second, pc+256, 9, 0, 0)
	word := uint64(2)<<31 | 5<<1 // what is inlined as the second one
	table := []byte{20}
	for v := word << 1; ; v >>= 7 {
		if v < 0x80 {
			table = append(table, byte(v))
			break
		}
		table = append(table, byte(v)|0x80)
	}
	data = slices.Concat(data[:tables], append(table, make([]byte, 8-len(table))...), data[tables+8:])
	put(tables+8+5, 0)
	data[tables+8] = 3
	data[tables+8+4] = 0
	data[tables+8+13], data[tables+8+13+4] = 4, 1
	put(tables+8+13+5, 1<<31|3<<1)
	return data, pc
}

func readModule(data []byte, pc uint64) (calls []uint32, own bool, index uint32) {
	h := newHeap(structs.New(amd64.Arch, memtest.Flat{Lo: heapAt, Data: data}, &spare), smallLayout())
	defer h.Free()
	m := wasmModule{record: heapAt}
	h.findWasmCode(&m)
	c, ok := h.wasmCode(&m, pc)
	if h.Err() != nil || !ok {
		return nil, false, 0
	}
	calls, own = h.wasmInlined(&c, pc)
	return calls, own && h.Err() == nil, c.index
}

// TestMadeModule: the module that the fuzz test begins with is a good one.
func TestMadeModule(t *testing.T) {
	for _, llvm := range []bool{false, true} {
		data, pc := makeModule(llvm)
		if calls, own, index := readModule(data, pc); !slices.Equal(calls, []uint32{4}) || !own || index != 7 {
			t.Errorf("%v: %v %v %d", llvm, calls, own, index)
		}
		if calls, own, index := readModule(data, pc+300); len(calls) > 0 || !own || index != 9 {
			t.Errorf("%v: %v %v %d", llvm, calls, own, index)
		}
	}
}

// FuzzModule reads what a malicious process says of its code of WebAssembly.
func FuzzModule(f *testing.F) {
	for _, llvm := range []bool{false, true} {
		data, _ := makeModule(llvm)
		f.Add(data)
	}
	_, pc := makeModule(false)
	before := mostEffort
	mostEffort = 1 << 20
	defer func() { mostEffort = before }()
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+64*len(data), func() { readModule(data, pc) })
	})
}
