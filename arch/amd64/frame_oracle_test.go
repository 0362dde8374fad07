package amd64

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// leaveOut says why a function cannot be compared.
func leaveOut(f *rowtest.FDE, lines []string) string {
	switch {
	case len(f.Rows) > 1 && strings.HasPrefix(lines[0], "nop") && f.Rows[1].Loc == f.Lo+1, f.Rows[0].Regs["ra"] != "c-8":
		return "a cold part"
	case len(f.Rows) == 1 && slices.ContainsFunc(lines, func(text string) bool { return strings.HasPrefix(text, "push") }):
		return "written by hand, without call frame directives"
	}
	return ""
}

// padding reports whether an instruction does nothing, behind an unconditional jump.
func padding(in *rowtest.Instruction) bool {
	op := operation(in.Text)
	return (op == "nop" || op == "nopw" || op == "nopl" || strings.HasPrefix(in.Text, "xchg   %ax,%ax")) &&
		slices.Contains([]string{"jmp", "ret", "ud2", "hlt", "notrack"}, operation(in.Before))
}

// operation is an instruction's, without prefixes of padding.
func operation(text string) string {
	op, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "cs "), "data16 "), " ")
	return op
}

func returns(in *rowtest.Instruction) bool {
	return strings.HasPrefix(in.Text, "ret") || strings.HasPrefix(in.Text, "repz ret")
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
