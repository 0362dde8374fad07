//go:build linux

package s390x

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// The oracle of these tests is readelf's reading of the compiler's own unwind
// tables, row by row, and objdump's instruction boundaries.

type oracleRow struct {
	loc  uint64
	cfa  string            // "r15+160", "exp"
	regs map[string]string // by name: "u", "c-16", "f0", "exp"; "ra" for r14
}

type oracleFDE struct {
	lo, hi uint64
	rows   []oracleRow
}

func (f *oracleFDE) at(pc uint64) *oracleRow {
	i, ok := slices.BinarySearchFunc(f.rows, pc, func(r oracleRow, pc uint64) int {
		if r.loc < pc {
			return -1
		} else if r.loc > pc {
			return 1
		}
		return 0
	})
	if !ok {
		i--
	}
	return &f.rows[i]
}

func lines(t testing.TB, each func(line string), name string, args ...string) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, name), args...)
	p, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(p)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		each(s.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
}

// readFDEs returns the functions that file's unwind tables describe.
func readFDEs(t testing.TB, file string) []*oracleFDE {
	t.Helper()
	var fdes []*oracleFDE
	var cur *oracleFDE
	var cols []string
	cies := map[string]*oracleFDE{} // by offset, for their initial rows
	lines(t, func(line string) {
		switch f := strings.Fields(line); {
		case len(f) >= 5 && f[3] == "FDE":
			cur = nil
			if lo, hi, ok := strings.Cut(strings.TrimPrefix(f[5], "pc="), ".."); ok {
				cur = &oracleFDE{lo: parseHex(t, lo), hi: parseHex(t, hi)}
				if cie := cies[strings.TrimPrefix(f[4], "cie=")]; cie != nil && len(cie.rows) > 0 {
					cur.rows = []oracleRow{{cur.lo, cie.rows[0].cfa, cie.rows[0].regs}}
				}
				fdes = append(fdes, cur)
			}
		case len(f) >= 4 && f[3] == "CIE":
			cur = &oracleFDE{}
			cies[f[0]] = cur
		case cur == nil || len(f) < 2:
		case f[0] == "LOC":
			cols = f[2:]
		default:
			// "r16 (f0)" is one cell.
			for i := len(f) - 1; i > 0; i-- {
				if n := len(f[i]); f[i][0] == '(' {
					f = slices.Delete(f, i-1, i)
					f[i-1] = f[i-1][1 : n-1]
				}
			}
			if len(f) != len(cols)+2 || f[1] == "ZERO" {
				return
			}
			r := oracleRow{loc: parseHex(t, f[0]), cfa: f[1], regs: map[string]string{}}
			for i, c := range cols {
				r.regs[c] = f[2+i]
			}
			// A later row for the same place replaces the earlier one.
			if n := len(cur.rows); n > 0 && cur.rows[n-1].loc == r.loc {
				cur.rows = cur.rows[:n-1]
			}
			cur.rows = append(cur.rows, r)
		}
	}, "readelf", "-W", "--debug-dump=frames-interp,no-follow-links", file)
	if len(fdes) == 0 {
		t.Fatalf("readelf shows no FDE in %s", file)
	}
	return slices.DeleteFunc(fdes, func(f *oracleFDE) bool { return len(f.rows) == 0 })
}

func parseHex(t testing.TB, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// readBoundaries returns the address of each instruction, ascending, and the
// text of each.
func readBoundaries(t testing.TB, file string) (pcs []uint64, text map[uint64]string) {
	t.Helper()
	text = map[uint64]string{}
	lines(t, func(line string) {
		addr, rest, ok := strings.Cut(line, ":\t")
		if !ok {
			return
		}
		pc, err := strconv.ParseUint(strings.TrimSpace(addr), 16, 64)
		if err != nil {
			return
		}
		pcs = append(pcs, pc)
		text[pc] = rest
	}, "s390x-linux-gnu-objdump", "-d", "-z", "-w", "--no-show-raw-insn", file)
	slices.Sort(pcs)
	return pcs, text
}

// image is a file's executable sections.
type image []*elf.Section

func openImage(t testing.TB, file string) (im image) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_PROGBITS {
			im = append(im, s)
		}
	}
	return im
}

// code returns up to extra bytes more than [lo, hi), and the section's name.
func (im image) code(t testing.TB, lo, hi, extra uint64) (code []byte, section string) {
	t.Helper()
	for _, s := range im {
		if lo >= s.Addr && hi <= s.Addr+s.Size {
			hi = min(hi+extra, s.Addr+s.Size)
			code = make([]byte, hi-lo)
			if _, err := s.ReadAt(code, int64(lo-s.Addr)); err != nil {
				t.Fatal(err)
			}
			return code, s.Name
		}
	}
	return nil, ""
}

// TestDWARFNumbers: the numbers that unwind tables name registers by are the
// descriptor's.
func TestDWARFNumbers(t *testing.T) {
	var src strings.Builder
	src.WriteString("f:\n.cfi_startproc\n")
	for _, r := range Arch.Regs {
		if r.Num != PSWM && r.Num != PSWA { // which readelf has no name for
			fmt.Fprintf(&src, ".cfi_same_value %d\n", r.Num)
		}
	}
	src.WriteString("br %r14\n.cfi_endproc\n")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "f.s"), filepath.Join(dir, "f.o")
	if err := os.WriteFile(in, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(gdbtest.Tool(t, "s390x-linux-gnu-gcc"), "-c", "-o", out, in).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	var names []string
	lines(t, func(line string) {
		if _, name, ok := strings.Cut(line, "DW_CFA_same_value: "); ok {
			names = append(names, name)
		}
	}, "readelf", "-W", "--debug-dump=frames", out)
	i := 0
	for _, r := range Arch.Regs {
		if r.Num == PSWM || r.Num == PSWA {
			continue
		}
		// "r5", "r16 (f0)", "r48 (a0)"
		want := fmt.Sprintf("r%d (%s)", r.Num, strings.Replace(r.Name, "acr", "a", 1))
		if r.Num <= R15 {
			want = r.Name
		}
		if i >= len(names) || names[i] != want {
			t.Fatalf("%s: readelf names %v", want, names[i:])
		}
		i++
	}
}
