package amd64

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

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
	fdes := rowtest.FDEs(t, file)
	pcs, text := processor.Instructions(t, file)
	im := rowtest.Open(t, file)
	c := &tally{missed: map[string]int{}}
	for _, f := range fdes {
		code, section := im.Code(t, f.Lo, f.Hi, extra)
		if code == nil || strings.HasPrefix(section, ".plt") {
			continue
		}
		// What begins with a frame already made is the cold part of a function that
		// begins elsewhere: no entry.
		cold := len(f.Rows) > 1 && strings.HasPrefix(text[f.Lo], "nop") && f.Rows[1].Loc == f.Lo+1
		if cold || f.Rows[0].CFA != "rsp+8" || f.Rows[0].Regs["ra"] != "c-8" {
			c.cold++
			continue
		}
		if len(f.Rows) == 1 && hasPush(f, pcs, text) {
			c.silent++ // written by hand, without call frame directives
			continue
		}
		c.functions++
		a := Machine.Analyse(code, nil, false)
		reported := false
		i, _ := slices.BinarySearch(pcs, f.Lo)
		dead := false // behind an unconditional jump, until something else than padding
		for ; i < len(pcs) && pcs[i] < f.Hi; i++ {
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
			row, why := a.Row(f.Lo, int32(pc-f.Lo))
			if why != "" {
				c.none++
				c.missed[why]++
				continue
			}
			want := f.At(pc)
			o, _ := a.At(int32(pc - f.Lo))
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
				t.Logf("%s+%#x of %#x: %s: row %s, oracle %s %v: %v", file, pc, f.Lo, text[pc], row.Format(Arch.RegName), want.CFA, want.Regs, bad)
			}
		}
	}
	return c
}

// hasPush reports whether a function moves the stack pointer by pushes.
func hasPush(f *rowtest.FDE, pcs []uint64, text map[uint64]string) bool {
	i, _ := slices.BinarySearch(pcs, f.Lo)
	for ; i < len(pcs) && pcs[i] < f.Hi; i++ {
		if strings.HasPrefix(text[pcs[i]], "push") {
			return true
		}
	}
	return false
}

// epilogue compares what ReadEpilogue says of one instruction.
func (c *tally) epilogue(t *testing.T, a *values.Analysis, f *rowtest.FDE, code []byte, pc uint64, text string) {
	row, out := Machine.ReadEpilogue(code[pc-f.Lo:], pc)
	ok := out&arch.TearsDown != 0
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
	o, reached := a.At(int32(pc - f.Lo))
	if !reached {
		return
	}
	want := f.At(pc)
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
		t.Logf("epilogue at %#x of %#x: %s: row %s, oracle %s %v: %v %v", pc, f.Lo, text, row.Format(Arch.RegName), want.CFA, want.Regs, bad, other)
	}
}

// differs says where a row is wrong; unlike is true where its CFA cannot be
// compared.
func differs(s *values.State, row *trad.Row, want *rowtest.Row, f *rowtest.FDE) (bad, other []string, unlike bool) {
	fail := func(list *[]string, format string, args ...any) {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	sp, spKnown := s.Reg(values.Reg(RSP)).Distance()
	unchanged := func(r trad.Reg) bool { return s.Reg(values.Reg(r)) == values.OnEntry(values.Reg(r)) }
	switch cfaRule := row.CFA; {
	case want.CFA == "exp":
		var n int
		var name string
		var off int32
		fmt.Sscanf(f.Expr, "DW_OP_breg%d (%s %d; DW_OP_deref", &n, &name, &off)
		slot := s.Reg(values.Reg(cfaRule.Reg)).Plus(cfaRule.Off)
		if cfaRule.Kind != trad.SavedAt || slot != s.Reg(values.Reg(n)).Plus(off) || s.Load(slot) != values.FromCFA(0) {
			fail(&bad, "CFA expression %q", f.Expr)
		}
	case cfaRule.Kind == trad.InReg && fmt.Sprintf("%s%+d", Arch.RegName(cfaRule.Reg), cfaRule.Off) == want.CFA:
	default:
		// From another register: both hold if the state knows the oracle's as well.
		unlike = true
		for r := range trad.Reg(nRegs) {
			if off, ok := strings.CutPrefix(want.CFA, Arch.RegName(r)); ok && (off[0] == '+' || off[0] == '-') {
				if n, ok := s.Reg(values.Reg(r)).Distance(); ok {
					unlike = false
					if fmt.Sprintf("%+d", -n) != off {
						fail(&bad, "CFA")
					}
				}
			}
		}
		if unlike && spKnown && strings.HasPrefix(want.CFA, "rsp") {
			fail(&bad, "CFA")
		}
	}
	if want.Regs["ra"] != "c-8" || row.RA != (trad.Rule{Kind: trad.Saved, Off: -8}) {
		fail(&bad, "RA")
	}
	check := func(list *[]string, r trad.Reg, rule trad.Rule) {
		w := want.Regs[Arch.RegName(r)]
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
		check(&other, r, row.Others.Rule(r))
	}
	return bad, other, unlike
}
