package amd64

import (
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/trad"
)

// TestReadFrameTrap puts what is no instruction in the place of each call, as code that
// aborts may have it: the state before it is what it was, by the compiler's table.
func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -fno-omit-frame-pointer", "-O2 -mavx2 -mstackrealign"} {
		file := compile(t, strings.Fields(flags)...)
		pcs, text := readBoundaries(t, file)
		im := openImage(t, file)
		traps, sure := 0, 0
		for _, f := range readFDEs(t, file) {
			code, section := im.code(t, f.lo, f.hi, 0)
			if section != ".text" || f.rows[0].cfa != "rsp+8" {
				continue
			}
			for _, pc := range pcs {
				if pc < f.lo || pc >= f.hi || !strings.HasPrefix(text[pc], "call") {
					continue
				}
				for _, trap := range []string{"\x06\x06\x06", "\x0f\x0b", "\xf4"} { // undecodable, ud2, hlt
					trapped := slices.Clone(code)
					copy(trapped[pc-f.lo:], trap)
					a := Machine.Analyse(trapped, nil, false)
					row, why := a.Row(f.lo, int32(pc-f.lo))
					if traps++; why != "" {
						t.Errorf("%s: %#x: %q: %s", flags, pc, trap, why)
						continue
					}
					if row.Flags&trad.Guess != 0 {
						continue
					}
					sure++
					o, _ := a.At(int32(pc - f.lo))
					if bad, other, _ := differs(o, &row, f.at(pc), f); len(bad)+len(other) > 0 || row.Lo != pc {
						t.Errorf("%s: %#x: %q: row %s, oracle %v: %v %v", flags, pc, trap, row.Format(Arch.RegName), *f.at(pc), bad, other)
					}
				}
			}
		}
		if traps < 100 || sure*5 < traps*4 {
			t.Errorf("%s: %d of %d traps have a row that is no guess", flags, sure, traps)
		}
	}
}
