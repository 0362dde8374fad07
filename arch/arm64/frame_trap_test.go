//go:build linux

package arm64

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// TestReadFrameTrap puts what is no instruction in the place of each call, as code that
// aborts may have it: the state before it is what it was, by the compiler's table.
func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -fomit-frame-pointer", "-O2 -mbranch-protection=standard"} {
		file := link(t, flags)
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		traps, sure := 0, 0
		for _, fde := range readFDEs(t, file) {
			code := codeOf(t, f, fde.lo, fde.hi, 0)
			for pc := fde.lo; pc < fde.hi; pc += size {
				if in, _ := decode(code, int(pc-fde.lo), nil); in.Flow != values.Call {
					continue
				}
				for _, trap := range []uint32{0, 0x0000dead, 0xd4207d00} { // udf #0, udf #0xdead, brk #0x3e8
					trapped := slices.Clone(code)
					binary.LittleEndian.PutUint32(trapped[pc-fde.lo:], trap)
					a := Machine.Analyse(trapped, nil, false)
					row, why := a.Row(fde.lo, int32(pc-fde.lo))
					if traps++; why != "" {
						t.Errorf("%s: %#x: %#x: %s", flags, pc, trap, why)
						continue
					}
					if row.Flags&trad.Guess != 0 {
						continue
					}
					sure++
					i, _ := a.At(int32(pc - fde.lo))
					if bad, other, _ := differs(i, &row, fde.at(pc)); len(bad)+len(other) > 0 {
						t.Errorf("%s: %#x: %#x: row %s, oracle %v: %v %v", flags, pc, trap, row.Format(Arch.RegName), *fde.at(pc), bad, other)
					}
				}
			}
		}
		if traps < 100 || sure*5 < traps*4 {
			t.Errorf("%s: %d of %d traps have a row that is no guess", flags, sure, traps)
		}
	}
}
