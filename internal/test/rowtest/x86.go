package rowtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// X86 returns a processor of the x86 family, of 32 bits or of 64, with what its tables and objdump
// have in common.
func X86(p Processor) *Processor {
	x := x86{p.Arch, p.Machine.Pushed}
	sp := slices.IndexFunc(x.Regs, func(r arch.RegInfo) bool { return r.Num == x.SP }) // it may not be registered yet
	p.Entry = fmt.Sprintf("%s%+d", x.Regs[sp].Name, -x.pushed)
	p.Call, p.Unwound = "call", true
	p.LeaveOut, p.Padding, p.Returns, p.Differs, p.Refutes = x.leaveOut, padding, returns, x.differs, x.refutes
	return &p
}

type x86 struct {
	*arch.Arch
	pushed int32 // where the return address is, from the CFA
}

// leaveOut says why a function cannot be compared.
func (x x86) leaveOut(f *FDE, lines []string) string {
	switch {
	case len(f.Rows) > 1 && strings.HasPrefix(lines[0], "nop") && f.Rows[1].Loc == f.Lo+1, f.Rows[0].Regs["ra"] != fmt.Sprintf("c%+d", x.pushed):
		return "a cold part"
	case len(f.Rows) == 1 && slices.ContainsFunc(lines, func(text string) bool { return strings.HasPrefix(text, "push") }):
		return "written by hand, without call frame directives"
	case slices.Contains(lines, "pushf"):
		return "has inline assembly that pushes"
	case !x.moves(f, lines):
		return "its table moves the CFA where no instruction moves the stack pointer"
	case len(lines) == 2 && strings.HasPrefix(lines[0], "mov    (%esp),%e"):
		return "changes a register that its table calls unchanged"
	}
	return ""
}

// moves reports whether between two rows with the CFA at different distances from the stack pointer
// an instruction always stands that may be the reason.
func (x x86) moves(f *FDE, lines []string) bool {
	sp := x.RegName(x.SP)
	reason := regexp.MustCompile(`^(push|pop|call|ret|leave|enter|jmp|notrack jmp|ud2|hlt)|%` + sp)
	for i := 1; i < len(f.Rows); i++ {
		before, now := &f.Rows[i-1], &f.Rows[i]
		if before.CFA == now.CFA || !strings.HasPrefix(before.CFA, sp) || !strings.HasPrefix(now.CFA, sp) {
			continue
		}
		found := false
		for j, text := range lines {
			found = found || f.PCs[j] >= before.Loc && f.PCs[j] < now.Loc && reason.MatchString(text)
		}
		if !found {
			return false
		}
	}
	return true
}

// refutes implements Processor.Refutes: the table says that a register is unchanged, and the code
// changes it; or it says that it is saved where no push puts it, while pushes put it elsewhere.
func (x x86) refutes(f *FDE, difference string, lines []string) bool {
	name, oracle, ok := strings.Cut(difference, " oracle ")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, " ")
	pushes, puts, writes := 0, 0, false
	for i, text := range lines {
		if text == "push   %"+name {
			pushes++
			var off int
			if _, err := fmt.Sscanf(f.At(f.PCs[i]).CFA, x.RegName(x.SP)+"+%d", &off); err == nil && fmt.Sprintf("c-%d", off+x.PtrSize) == oracle {
				puts++
			}
		}
		writes = writes || strings.HasSuffix(text, ",%"+name) && !strings.HasPrefix(text, "cmp") && !strings.HasPrefix(text, "test")
	}
	switch {
	case oracle == "u":
		return writes && pushes == 0
	case strings.HasPrefix(oracle, "c-"):
		return pushes > 0 && puts == 0
	}
	return false
}

// padding reports whether an instruction does nothing, behind an unconditional jump.
func padding(in *Instruction) bool {
	op := operation(in.Text)
	return (op == "nop" || op == "nopw" || op == "nopl" || strings.HasPrefix(in.Text, "xchg   %ax,%ax") || fills.MatchString(in.Text)) &&
		slices.Contains([]string{"jmp", "ret", "ud2", "hlt", "notrack"}, operation(in.Before))
}

// fills matches what 32-bit code is padded with: lea 0x0(%esi,%eiz,1),%esi, and shorter ones.
var fills = regexp.MustCompile(`lea +0x0\((?:%cs:)?%e[sd]i(?:,%eiz,1)?\),%e[sd]i`)

// operation is an instruction's, without prefixes of padding.
func operation(text string) string {
	op, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "cs "), "data16 "), " ")
	return op
}

func returns(in *Instruction) bool {
	return strings.HasPrefix(in.Text, "ret") || strings.HasPrefix(in.Text, "repz ret")
}

// differs says where a row is wrong; unlike is true where its CFA cannot be
// compared.
func (x x86) differs(s *dataflow.State, row *trad.Row, want *Row, f *FDE) (bad, other []string, unlike bool) {
	fail := func(list *[]string, format string, args ...any) {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	sp, spKnown := s.Reg(dataflow.Reg(x.SP)).Distance()
	unchanged := func(r trad.Reg) bool { return s.Reg(dataflow.Reg(r)) == dataflow.OnEntry(dataflow.Reg(r)) }
	switch cfaRule := row.CFA; {
	case want.CFA == "exp":
		var n int
		var name string
		var off int32
		fmt.Sscanf(f.Expr, "DW_OP_breg%d (%s %d; DW_OP_deref", &n, &name, &off)
		slot := s.Reg(dataflow.Reg(cfaRule.Reg)).Plus(cfaRule.Off)
		if cfaRule.Kind != trad.SavedAt || slot != s.Reg(dataflow.Reg(n)).Plus(off) || s.Load(slot) != dataflow.FromCFA(0) {
			fail(&bad, "CFA expression %q", f.Expr)
		}
	case cfaRule.Kind == trad.InReg && fmt.Sprintf("%s%+d", x.RegName(cfaRule.Reg), cfaRule.Off) == want.CFA:
	default:
		// From another register: both hold if the state knows the oracle's as well.
		unlike = true
		for r := range x.RA {
			if off, ok := strings.CutPrefix(want.CFA, x.RegName(r)); ok && (off[0] == '+' || off[0] == '-') {
				if n, ok := s.Reg(dataflow.Reg(r)).Distance(); ok {
					unlike = false
					if fmt.Sprintf("%+d", -n) != off {
						fail(&bad, "CFA")
					}
				}
			}
		}
		if unlike && spKnown && strings.HasPrefix(want.CFA, x.RegName(x.SP)) {
			fail(&bad, "CFA")
		}
	}
	if want.Regs["ra"] != fmt.Sprintf("c%+d", x.pushed) || row.RA != (trad.Rule{Kind: trad.Saved, Off: x.pushed}) {
		fail(&bad, "RA")
	}
	check := func(list *[]string, r trad.Reg, rule trad.Rule) {
		w := want.Regs[x.RegName(r)]
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
			fail(list, "%s %s, oracle %s", x.RegName(r), got, w)
		}
	}
	check(&bad, x.FP, row.FP)
	for r := range x.RA {
		if !x.CalleeSaved.Has(r) || r == x.SP || r == x.FP {
			continue
		}
		check(&other, r, row.Others.Rule(r))
	}
	return bad, other, unlike
}
