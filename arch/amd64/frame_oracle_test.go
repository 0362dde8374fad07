package amd64

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// The oracle of these tests is readelf's reading of the compiler's own unwind
// tables, row by row, and objdump's instruction boundaries.

type oracleRow struct {
	loc  uint64
	cfa  string            // "rsp+8", "exp"
	regs map[string]string // by name: "u", "c-16", "exp"; "ra" too
}

type oracleFDE struct {
	lo, hi uint64
	rows   []oracleRow
	expr   string // the last CFA expression, as readelf prints it
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
	byLo := map[uint64]*oracleFDE{}
	for _, f := range fdes {
		byLo[f.lo] = f
	}
	lines(t, func(line string) {
		if f := strings.Fields(line); len(f) >= 5 && f[3] == "FDE" {
			lo, _, _ := strings.Cut(strings.TrimPrefix(f[5], "pc="), "..")
			cur = byLo[parseHex(t, lo)]
		} else if _, e, ok := strings.Cut(line, "DW_CFA_def_cfa_expression ("); ok && cur != nil {
			cur.expr = strings.TrimSuffix(e, ")")
		}
	}, "readelf", "-W", "--debug-dump=frames,no-follow-links", file)
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
	}, "objdump", "-d", "-w", "--no-show-raw-insn", file)
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

// tally counts what came of the instructions of some functions.
type tally struct {
	functions, cold, total                    int
	sure, guess, none                         int
	wrong, wrongGuess, more                   int // more: wrong rules of registers other than rbp
	unlike                                    int // rows that give the CFA from another register than the oracle, with no way to compare
	missed                                    map[string]int
	epilogues, wrongEpilogue, guessedEpilogue int
	returns, seenReturns                      int
	silent                                    int // functions with pushes that their table does not know of
	shown                                     int
}

func (c *tally) String() string {
	p := func(n int) string { return fmt.Sprintf("%d (%.3f%%)", n, 100*float64(n)/float64(max(1, c.total))) }
	return fmt.Sprintf("%d functions, %d cold parts left out, %d instructions: sure %s, guessed %s, none %s; wrong among the sure %s, among the guessed %s, wrong other registers among the sure %s; not comparable %s; reasons %v; %d epilogue rows, %d wrong, %d wrong guesses, %d of %d returns seen; %d functions without directives left out",
		c.functions, c.cold, c.total, p(c.sure), p(c.guess), p(c.none), p(c.wrong), p(c.wrongGuess), p(c.more), p(c.unlike), c.missed,
		c.epilogues, c.wrongEpilogue, c.guessedEpilogue, c.seenReturns, c.returns, c.silent)
}

// compareAll compares the rows of every instruction of file with the oracle.
func compareAll(t *testing.T, file string, extra uint64) *tally {
	t.Helper()
	fdes := readFDEs(t, file)
	pcs, text := readBoundaries(t, file)
	im := openImage(t, file)
	c := &tally{missed: map[string]int{}}
	for _, f := range fdes {
		code, section := im.code(t, f.lo, f.hi, extra)
		if code == nil || strings.HasPrefix(section, ".plt") {
			continue
		}
		// What begins with a frame already made is the cold part of a function that
		// begins elsewhere: no entry.
		cold := len(f.rows) > 1 && strings.HasPrefix(text[f.lo], "nop") && f.rows[1].loc == f.lo+1
		if cold || f.rows[0].cfa != "rsp+8" || f.rows[0].regs["ra"] != "c-8" {
			c.cold++
			continue
		}
		if len(f.rows) == 1 && hasPush(f, pcs, text) {
			c.silent++ // written by hand, without call frame directives
			continue
		}
		c.functions++
		a := Machine.Analyse(code, nil, false)
		reported := false
		i, _ := slices.BinarySearch(pcs, f.lo)
		dead := false // behind an unconditional jump, until something else than padding
		for ; i < len(pcs) && pcs[i] < f.hi; i++ {
			pc := pcs[i]
			op, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text[pc], "cs "), "data16 "), " ")
			if op == "nop" || op == "nopw" || op == "nopl" || strings.HasPrefix(text[pc], "xchg   %ax,%ax") {
				if dead {
					continue // padding, never executed
				}
			} else {
				dead = op == "jmp" || op == "ret" || op == "ud2" || op == "hlt" || op == "notrack"
			}
			c.total++
			c.epilogue(t, a, f, code, pc, text[pc])
			row, why := a.Row(f.lo, int32(pc-f.lo))
			if why != "" {
				c.none++
				c.missed[why]++
				continue
			}
			want := f.at(pc)
			o, _ := a.At(int32(pc - f.lo))
			bad, other, unlike := differs(o, &row, want, f)
			if row.Lo != pc {
				bad = append(bad, fmt.Sprintf("the row begins at %#x", row.Lo))
			}
			if unlike {
				c.unlike++
			}
			switch {
			case row.Flags&trad.Guess != 0:
				c.guess++
				if len(bad) > 0 {
					c.wrongGuess++
				}
				continue
			default:
				c.sure++
				c.more += len(other)
				if len(bad) > 0 {
					c.wrong++
				}
			}
			if len(bad) > 0 && !reported && c.shown < 40 {
				c.shown++
				reported = true
				t.Logf("%s+%#x of %#x: %s: row %s, oracle %s %v: %v", file, pc, f.lo, text[pc], row.Format(Arch.RegName), want.cfa, want.regs, bad)
			}
		}
	}
	return c
}

// hasPush reports whether a function moves the stack pointer by pushes.
func hasPush(f *oracleFDE, pcs []uint64, text map[uint64]string) bool {
	i, _ := slices.BinarySearch(pcs, f.lo)
	for ; i < len(pcs) && pcs[i] < f.hi; i++ {
		if strings.HasPrefix(text[pcs[i]], "push") {
			return true
		}
	}
	return false
}

// epilogue compares what readEpilogue says of one instruction.
func (c *tally) epilogue(t *testing.T, a *values.Analysis, f *oracleFDE, code []byte, pc uint64, text string) {
	row, ok := Machine.ReadEpilogue(code[pc-f.lo:], pc)
	isReturn := strings.HasPrefix(text, "ret") || strings.HasPrefix(text, "repz ret")
	if isReturn {
		c.returns++
	}
	if !ok {
		return
	}
	if isReturn {
		c.seenReturns++
	}
	c.epilogues++
	o, reached := a.At(int32(pc - f.lo))
	if !reached {
		return
	}
	want := f.at(pc)
	bad, other, _ := differs(o, &row, want, f)
	if len(bad)+len(other) == 0 {
		return
	}
	if row.Flags&trad.Guess != 0 {
		c.guessedEpilogue++
		return
	}
	if o.Guess() {
		return // the state that the comparison leans on is one itself
	}
	c.wrongEpilogue++
	if c.wrongEpilogue < 10 {
		t.Logf("epilogue at %#x of %#x: %s: row %s, oracle %s %v: %v %v", pc, f.lo, text, row.Format(Arch.RegName), want.cfa, want.regs, bad, other)
	}
}

// differs says where a row is wrong; unlike is true where its CFA cannot be
// compared.
func differs(s *values.State, row *trad.Row, want *oracleRow, f *oracleFDE) (bad, other []string, unlike bool) {
	fail := func(list *[]string, format string, args ...any) {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	sp, spKnown := s.Reg(values.Reg(RSP)).Distance()
	unchanged := func(r trad.Reg) bool { return s.Reg(values.Reg(r)) == values.OnEntry(values.Reg(r)) }
	switch cfaRule := row.CFA; {
	case want.cfa == "exp":
		e := ""
		if cfaRule.Kind == trad.SavedAt {
			e = fmt.Sprintf("DW_OP_breg%d (%s): %d; DW_OP_deref", cfaRule.Reg, Arch.RegName(cfaRule.Reg), cfaRule.Off)
		}
		if e != f.expr {
			fail(&bad, "CFA expression %q", f.expr)
		}
	case cfaRule.Kind == trad.InReg && fmt.Sprintf("%s%+d", Arch.RegName(cfaRule.Reg), cfaRule.Off) == want.cfa:
	default:
		// From another register: both hold if the state knows the oracle's as well.
		unlike = true
		for r := range trad.Reg(nRegs) {
			if off, ok := strings.CutPrefix(want.cfa, Arch.RegName(r)); ok && (off[0] == '+' || off[0] == '-') {
				if n, ok := s.Reg(values.Reg(r)).Distance(); ok {
					unlike = false
					if fmt.Sprintf("%+d", -n) != off {
						fail(&bad, "CFA")
					}
				}
			}
		}
		if unlike && spKnown && strings.HasPrefix(want.cfa, "rsp") {
			fail(&bad, "CFA")
		}
	}
	if want.regs["ra"] != "c-8" || row.RA != (trad.Rule{Kind: trad.Saved, Off: -8}) {
		fail(&bad, "RA")
	}
	check := func(list *[]string, r trad.Reg, rule trad.Rule) {
		w := want.regs[Arch.RegName(r)]
		got := ""
		switch rule.Kind {
		case trad.Saved:
			got = fmt.Sprintf("c%+d", rule.Off)
		case trad.Same:
			got = "u"
			// The tables go on naming a slot that the epilogue has popped.
			// or whose register has its value back.
			if n, err := strconv.Atoi(strings.TrimPrefix(w, "c")); err == nil && spKnown && int32(n) < sp {
				return
			}
			if unchanged(r) {
				return
			}
		case trad.SavedAt:
			got = "exp"
		default:
			got = "?"
		}
		if w == "" || w == "s" {
			w = "u"
		}
		// They may name a saved register's slot late, while it still has its value.
		if w == "u" && unchanged(r) && (rule.Kind == trad.Saved || rule.Kind == trad.SavedAt) {
			return
		}
		if got != w {
			fail(list, "%s %s, oracle %s", Arch.RegName(r), got, w)
		}
	}
	check(&bad, RBP, row.FP)
	for _, r := range []trad.Reg{RBX, R12, R13, R14, R15} {
		check(&other, r, row.More.Rule(r))
	}
	return bad, other, unlike
}
