package java

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// TestCompilations has one compiled method after the other in the same place: what was decoded of
// one is taken for it alone.
func TestCompilations(t *testing.T) {
	const number, entry, scope = nmethodAt + 24, nmethodAt + 28, nmethodAt + 0x2c
	m, vm := compiled(), small()
	vm.compiled.number, vm.compiled.entryBCI = at(number-nmethodAt, 4), at(entry-nmethodAt, 4)
	b := &vmstructs.Blob{At: imageAt + nmethodAt, Lo: codeAt, Hi: codeAt + 64}
	for _, c := range []struct {
		number, entry, scope uint32
		want                 int
	}{
		{0, 0, 7, 2}, {0, 0, 1, 1}, // without a number nothing is kept
		{1, 0, 7, 2}, {1, 0, 1, 2}, // the same compilation never changes
		{2, 0, 1, 1}, {2, 3, 7, 2}, {2, 0, 7, 1}, {1, 0, 1, 2},
	} {
		for offset, v := range map[int]uint32{number: c.number, entry: c.entry, scope: c.scope} {
			binary.LittleEndian.PutUint32(m[offset:], v)
		}
		r := vmstructs.NewReader(m, binary.LittleEndian)
		if list, _, placed := vm.compiledAt(r, amd64.Arch, b, codeAt+32); len(list) != c.want || !placed {
			t.Errorf("%+v: %+v, in a place that is noted: %t", c, list, placed)
		}
		r.Free()
	}
}
