package rowtest

import (
	"bufio"
	"debug/elf"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A Row is a row of a table.
type Row struct {
	Loc  uint64
	CFA  string            // "rsp+8", "r15+160", "exp"
	Regs map[string]string // by name: "u", "c-16", "f0", "exp"; "ra" for the return address
}

// An FDE is a table's description of a function, at [Lo, Hi).
type FDE struct {
	Lo, Hi uint64
	Rows   []Row
	Expr   string   // the last CFA expression, as readelf prints it
	PCs    []uint64 // of its instructions, where they have been read
}

// At returns the row that holds at pc.
func (f *FDE) At(pc uint64) *Row {
	i, ok := slices.BinarySearchFunc(f.Rows, pc, func(r Row, pc uint64) int {
		if r.Loc < pc {
			return -1
		} else if r.Loc > pc {
			return 1
		}
		return 0
	})
	if !ok {
		i--
	}
	return &f.Rows[i]
}

// Lines calls each with the lines that a tool writes.
func Lines(t testing.TB, each func(line string), name string, args ...string) {
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

// FDEs returns the functions that file's unwind tables describe.
func FDEs(t testing.TB, file string) []*FDE {
	t.Helper()
	var fdes []*FDE
	var cur *FDE
	var cols []string
	cies := map[string]*FDE{} // by offset, for their initial rows
	Lines(t, func(line string) {
		switch f := strings.Fields(line); {
		case len(f) >= 5 && f[3] == "FDE":
			cur = nil
			if lo, hi, ok := strings.Cut(strings.TrimPrefix(f[5], "pc="), ".."); ok {
				cur = &FDE{Lo: ParseHex(t, lo), Hi: ParseHex(t, hi)}
				if cie := cies[strings.TrimPrefix(f[4], "cie=")]; cie != nil && len(cie.Rows) > 0 {
					cur.Rows = []Row{{cur.Lo, cie.Rows[0].CFA, cie.Rows[0].Regs}}
				}
				fdes = append(fdes, cur)
			}
		case len(f) >= 4 && f[3] == "CIE":
			cur = &FDE{}
			cies[f[0]] = cur
		case cur == nil || len(f) < 2:
		case f[0] == "LOC":
			cols = f[2:]
		default:
			// "r16 (f0)" is one cell. Rows that have a register in another general one are left
			// out: "r5 (rdi)", in code that is written by hand.
			for i := len(f) - 1; i > 0; i-- {
				if n := len(f[i]); strings.HasPrefix(f[i], "(f") {
					f = slices.Delete(f, i-1, i)
					f[i-1] = f[i-1][1 : n-1]
				}
			}
			if len(f) != len(cols)+2 || f[1] == "ZERO" {
				return
			}
			r := Row{Loc: ParseHex(t, f[0]), CFA: f[1], Regs: map[string]string{}}
			for i, c := range cols {
				r.Regs[c] = f[2+i]
			}
			// A later row for the same place replaces the earlier one.
			if n := len(cur.Rows); n > 0 && cur.Rows[n-1].Loc == r.Loc {
				cur.Rows = cur.Rows[:n-1]
			}
			cur.Rows = append(cur.Rows, r)
		}
	}, "readelf", "-W", "--debug-dump=frames-interp,no-follow-links", file)
	byLo := map[uint64]*FDE{}
	for _, f := range fdes {
		byLo[f.Lo] = f
	}
	Lines(t, func(line string) {
		if f := strings.Fields(line); len(f) >= 5 && f[3] == "FDE" {
			lo, _, _ := strings.Cut(strings.TrimPrefix(f[5], "pc="), "..")
			cur = byLo[ParseHex(t, lo)]
		} else if _, e, ok := strings.Cut(line, "DW_CFA_def_cfa_expression ("); ok && cur != nil {
			cur.Expr = strings.TrimSuffix(e, ")")
		}
	}, "readelf", "-W", "--debug-dump=frames,no-follow-links", file)
	if len(fdes) == 0 {
		t.Fatalf("readelf shows no FDE in %s", file)
	}
	return slices.DeleteFunc(fdes, func(f *FDE) bool { return len(f.Rows) == 0 })
}

// ParseHex returns a number in a tool's output.
func ParseHex(t testing.TB, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Instructions returns the address of each instruction, ascending, and the text of each, by
// objdump with more arguments.
func Instructions(t testing.TB, file, objdump string, args ...string) (pcs []uint64, text map[uint64]string) {
	t.Helper()
	text = map[uint64]string{}
	Lines(t, func(line string) {
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
	}, objdump, append(args, "-d", "-w", "--no-show-raw-insn", file)...)
	slices.Sort(pcs)
	return pcs, text
}

// An Image is a file's executable sections.
type Image []*elf.Section

// Open opens a file.
func Open(t testing.TB, file string) (im Image) {
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

// Code returns up to extra bytes more than [lo, hi), and the section's name.
func (im Image) Code(t testing.TB, lo, hi, extra uint64) (code []byte, section string) {
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
