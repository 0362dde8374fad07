//go:build linux

package s390x

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// TestReadSplit demands for every instruction of functions whose cold part is elsewhere, in
// either part, that a row that is not a guess is right by the compiler's table.
func TestReadSplit(t *testing.T) {
	for _, flags := range []string{"-O2", "-O2 -mbackchain"} {
		file := filepath.Join(t.TempDir(), "cold.so")
		args := append(strings.Fields(flags), "-DALONE", "-shared", "-nostdlib", "-fPIC", "-freorder-blocks-and-partition", "-o", file, "../../testdata/progs/cold.c")
		if out, err := exec.Command(gdbtest.Tool(t, "s390x-linux-gnu-gcc"), args...).CombinedOutput(); err != nil {
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
		pcs, text := readBoundaries(t, file)
		im, fdes := openImage(t, file), map[uint64]*oracleFDE{}
		for _, f := range readFDEs(t, file) {
			fdes[f.lo] = f
		}
		sure, total := 0, 0
		for name, at := range addr {
			of, ok := strings.CutSuffix(name, ".cold")
			if !ok {
				continue
			}
			hot, cold := fdes[addr[of]], fdes[at]
			hotCode, _ := im.code(t, hot.lo, hot.hi, 0)
			coldCode, _ := im.code(t, cold.lo, cold.hi, 0)
			split := arch.NewSplit(hotCode, hot.lo, coldCode, cold.lo)
			a := Machine.Analyse(split.Code, split, false)
			for _, fde := range []*oracleFDE{hot, cold} {
				i, _ := slices.BinarySearch(pcs, fde.lo)
				for ; i < len(pcs) && pcs[i] < fde.hi; i++ {
					pc := pcs[i]
					if strings.Contains(text[pc], "nop") || strings.HasPrefix(text[pc], ".") {
						continue
					}
					total++
					row, _, why := Machine.ReadSplit(split, pc)
					off, _ := split.Offset(pc)
					o, reached := a.At(off)
					if why != "" || !reached {
						t.Errorf("%s: %s: %x %s: %s", flags, name, pc, text[pc], why)
						continue
					}
					if row.Flags&trad.Guess != 0 {
						continue
					}
					sure++
					if bad, other, _ := differs(o, &row, fde.at(pc)); len(bad)+len(other) > 0 || row.Lo != pc {
						t.Errorf("%s: %s: %x %s: row %s, oracle %v: %v %v", flags, name, pc, text[pc], row.Format(Arch.RegName), *fde.at(pc), bad, other)
					}
				}
			}
		}
		if total < 100 || sure*10 < total*9 {
			t.Errorf("%s: %d of %d instructions have a row that is no guess", flags, sure, total)
		}
	}
}
