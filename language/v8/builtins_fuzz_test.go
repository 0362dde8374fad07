package v8

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// namesSample is an isolate with a table of n builtin functions, and behind it the table of their
// names, and the names.
func namesSample(n int) (data []byte) {
	word := func(list ...uint64) {
		for _, v := range list {
			data = binary.LittleEndian.AppendUint64(data, v)
		}
	}
	word(0, heapAt, 7)
	for i := range n {
		word(1<<40 + 64*uint64(i))
	}
	for i := range n {
		word(2<<40 + 8*uint64(i) + 1 - 8*uint64(i)%4)
	}
	word(0, heapAt, 3) // it is no name
	const width = 40
	names := heapAt + uint64(len(data)+24*(n+1))
	for i := range n {
		word(names+width*uint64(i), 8, 0)
	}
	word(names, 2, 0) // of another table
	for i := range n {
		name := fmt.Sprint("F", i)
		if i >= n/2 {
			name += lastBuiltins
		}
		data = append(data, fmt.Sprintf("%-*s", width, name+"\x00")...)
	}
	return data
}

// builtinsIn reads the names of the builtin functions.
func builtinsIn(data []byte) (starts []uint64, names []string) {
	memory := memtest.Flat{Lo: heapAt, Data: data}
	im := &elfimage.Image{Type: elf.ET_DYN, Progs: []elf.ProgHeader{{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Vaddr: heapAt, Filesz: uint64(len(data))}}}
	e := &engine{layout: smallLayout(), image: im}
	h := newHeap(structs.New(amd64.Arch, memory, &spare), e.layout)
	defer h.Free()
	if starts = h.builtinStarts(heapAt); starts == nil {
		return nil, nil
	}
	for _, at := range e.builtinNames(h, len(starts)) {
		names = append(names, h.CString(at))
		h.Err()
	}
	return starts, names
}

func TestBuiltinsMade(t *testing.T) {
	const n = fewestBuiltins + 3
	starts, names := builtinsIn(namesSample(n))
	if len(starts) != n || len(names) != n || starts[1] != 1<<40+64 || names[0] != "F0" || names[n-1] != fmt.Sprintf("F%d%s", n-1, lastBuiltins) {
		t.Errorf("%d functions, %d names", len(starts), len(names))
	}
}

// FuzzBuiltins reads the tables of builtin functions of a malicious process.
func FuzzBuiltins(f *testing.F) {
	f.Add(uint32(0), []byte(nil))
	f.Add(uint32(9000), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	sample := namesSample(fewestBuiltins)
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		data := append([]byte(nil), sample...)
		copy(data[int(at)%len(data):], change)
		bounds.Hold(t, 48<<20, func() {
			starts, names := builtinsIn(data)
			if len(names) != 0 && len(names) != len(starts) {
				t.Errorf("%d functions, %d names", len(starts), len(names))
			}
		})
	})
}
