//go:build linux

package arm64

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// TestReadSplit demands for every instruction of functions whose cold part is elsewhere, in
// either part, that a row that is not a guess is right by the compiler's table.
func TestReadSplit(t *testing.T) {
	for _, flags := range []string{"-O2", "-O2 -fomit-frame-pointer", "-O2 -mbranch-protection=standard"} {
		file := filepath.Join(t.TempDir(), "cold.so")
		args := append(strings.Fields(flags), "-DALONE", "-shared", "-nostdlib", "-fPIC", "-freorder-blocks-and-partition", "-o", file, "../../testdata/progs/cold.c")
		if out, err := exec.Command(gdbtest.Tool(t, "aarch64-linux-gnu-gcc"), args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		addr := map[string]uint64{}
		for _, s := range symbols {
			addr[s.Name] = s.Value
		}
		fdes := map[uint64]*oracleFDE{}
		for _, fde := range readFDEs(t, file) {
			fdes[fde.lo] = fde
		}
		sure, total := 0, 0
		for name, at := range addr {
			of, ok := strings.CutSuffix(name, ".cold")
			if !ok {
				continue
			}
			hot, cold := fdes[addr[of]], fdes[at]
			split := arch.NewSplit(codeOf(t, f, hot.lo, hot.hi, 0), hot.lo, codeOf(t, f, cold.lo, cold.hi, 0), cold.lo)
			a := Machine.Analyse(split.Code, split, false)
			for _, fde := range []*oracleFDE{hot, cold} {
				for pc := fde.lo; pc < fde.hi; pc += size {
					off, _ := split.Offset(pc)
					if in, _ := decode(split.Code, int(off), nil); in.Nop {
						continue
					}
					total++
					row, _, why := Machine.ReadSplit(split, pc)
					i, reached := a.At(off)
					if why != "" || !reached {
						t.Errorf("%s: %s: %#x: %s", flags, name, pc, why)
						continue
					}
					if row.Flags&trad.Guess != 0 {
						continue
					}
					sure++
					if bad, other, _ := differs(i, &row, fde.at(pc)); len(bad)+len(other) > 0 || row.Lo != pc {
						t.Errorf("%s: %s: %#x: row %s, oracle %v: %v %v", flags, name, pc, row.Format(Arch.RegName), *fde.at(pc), bad, other)
					}
				}
			}
		}
		if total < 100 || sure*10 < total*9 {
			t.Errorf("%s: %d of %d instructions have a row that is no guess", flags, sure, total)
		}
	}
}
