package target_test

import (
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// changedMemory is the memory of a file's image, of which every n-th byte differs.
type changedMemory struct {
	im     *elf.Image
	bias   uint64
	differ int // 0 for none
	none   bool
}

func (m changedMemory) ReadMemory(addr uint64, p []byte) (int, error) {
	if m.none {
		return 0, target.ErrUnmapped
	}
	n := m.im.ReadLoaded(addr-m.bias, p)
	for i := 0; m.differ > 0 && i < n; i += m.differ {
		p[i]++
	}
	return n, nil
}

// Code that differs in few bytes is the file's: debuggers put breakpoints there. Code that differs
// in many is another.
func TestSameCode(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	im, file, err := elf.OpenFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if file != nil {
		defer file.Close()
	}
	const bias = 0x10000
	text := im.ELF().Section(".text")
	lo, hi := text.Addr+bias, text.Addr+text.Size+bias
	for _, test := range []struct {
		name        string
		mem         target.Memory
		lo, hi      uint64
		same, known bool
	}{
		{"equal", changedMemory{im: im, bias: bias}, lo, hi, true, true},
		{"one page", changedMemory{im: im, bias: bias}, lo, lo + 100, true, true},
		{"breakpoints", changedMemory{im: im, bias: bias, differ: 64}, lo, hi, true, true},
		{"other code", changedMemory{im: im, bias: bias, differ: 4}, lo, hi, false, true},
		{"no memory", changedMemory{none: true}, lo, hi, false, false},
		{"nobody knows", nil, lo, hi, false, false},
		{"empty", changedMemory{im: im, bias: bias}, lo, lo, false, false},
	} {
		same, known := target.SameCode(im, bias, test.mem, test.lo, test.hi)
		if same != test.same || known != test.known {
			t.Errorf("%s: same %t, known %t", test.name, same, known)
		}
	}
}
