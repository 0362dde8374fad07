package s390x

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// leaveOut says why a function cannot be compared.
func leaveOut(f *rowtest.FDE, _ []string) string {
	if ra := f.Rows[0].Regs["ra"]; ra != "u" && ra != "" {
		return "a cold part"
	}
	if slices.ContainsFunc(f.Rows, func(r rowtest.Row) bool { return r.Regs["r14"] != "" }) {
		return "its return address is not the one in r14"
	}
	return ""
}

// padding reports whether an instruction does nothing, behind an unconditional jump.
func padding(in *rowtest.Instruction) bool {
	is := func(text string, ops ...string) bool {
		op, _, _ := strings.Cut(text, "\t")
		return slices.Contains(ops, strings.TrimSpace(op))
	}
	return is(in.Text, "nopr", "nop", ".long", ".short") && is(in.Before, "j", "jg", "br")
}

func returns(in *rowtest.Instruction) bool {
	return slices.Equal(strings.Fields(in.Text), []string{"br", "%r14"}) && in.State != nil && in.State.Reg(dataflow.Reg(R14)) == dataflow.OnEntry(dataflow.Reg(R14))
}

// refuted reports whether the code, as objdump reads it, refutes a table that difference is about:
// it never says a word of a register that the code writes, as tables of hand-written code that uses
// vectors do; or it has the register in a slot where the code never stores it: the dynamic linker's
// resolver stores v24 to v31, and its table says 24 to 31, which are f8 to f15.
func refuted(f *rowtest.FDE, difference string, lines []string) bool {
	name, rest, _ := strings.Cut(difference, " ")
	ours, theirs, _ := strings.Cut(rest, ", oracle ")
	said := slices.ContainsFunc(f.Rows, func(r rowtest.Row) bool { w := r.Regs[name]; return w != "" && w != "u" && w != "s" })
	switch {
	case ours == "" && theirs == "u" && !said:
		return touches(lines, name, false)
	case ours == "u" && strings.HasPrefix(theirs, "c"):
		return !touches(lines, name, true)
	}
	return false
}

// touches reports whether an instruction stores a register, or else gets it a value.
func touches(lines []string, name string, store bool) bool {
	for _, text := range lines {
		op, args, _ := strings.Cut(text, "\t")
		first, args, _ := strings.Cut(args, ",")
		if strings.HasPrefix(op, "st") != store || !store && strings.HasPrefix(op, "c") || !strings.HasPrefix(first, "%"+name[:1]) {
			continue
		}
		lo, last := registerNumber(first), registerNumber(first)
		if op == "lmg" || op == "stmg" || op == "lm" || op == "stm" {
			second, _, _ := strings.Cut(args, ",")
			last = registerNumber(second)
		}
		if n := registerNumber("%" + name); lo <= n && n <= last {
			return true
		}
	}
	return false
}

// registerNumber returns the number of a register that objdump has written.
func registerNumber(register string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(strings.TrimSpace(register), "%rf"))
	return n
}

// differs says where a row is wrong; unlike is true where its CFA cannot be
// compared.
func differs(s *dataflow.State, row *trad.Row, want *rowtest.Row, _ *rowtest.FDE) (bad, other []string, unlike bool) {
	fail := func(list *[]string, format string, args ...any) {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	// In leaves that save r11 and r15 in floating-point registers, gcc has the CFA
	// at r15+160 as soon as r11 is restored, although r15 is not: its own rule for
	// r15 says so.
	holds := func(r trad.Reg) dataflow.Value { return s.Reg(dataflow.Reg(r)) }
	sp, spKnown := holds(R15).Distance()
	if w := want.Regs["r15"]; strings.HasPrefix(w, "f") && holds(named(w)) == dataflow.FromCFA(entrySP) && spKnown && want.CFA == "r15+160" {
		late := *want
		late.CFA = w + "+160"
		want = &late
	}
	reg, off, _ := strings.Cut(want.CFA, "+")
	oracleCFA, known := holds(named(reg)).Distance() // by the state
	switch rule := row.CFA; {
	case rule.Kind == trad.InReg && Arch.RegName(rule.Reg) == reg && strconv.Itoa(int(rule.Off)) == off:
	case !known:
		// From a register that the state does not know.
		unlike = true
	case fmt.Sprint(-oracleCFA) != off:
		fail(&bad, "CFA, which the state has at %s%+d", reg, -oracleCFA)
	case rule.Kind == trad.InReg && holds(rule.Reg).Plus(rule.Off) != dataflow.FromCFA(0):
		fail(&bad, "CFA from another register than the oracle's")
	case rule.Kind == trad.ValExpr:
		x := row.Others.Exprs[rule.Off].(dataflow.SavedSP)
		if s.Load(holds(x.Reg).Plus(x.Off)) != dataflow.FromCFA(entrySP) {
			fail(&bad, "CFA from a slot that does not have it")
		}
	}
	check := func(list *[]string, r trad.Reg, rule trad.Rule, w string) {
		if w == "" || w == "s" {
			w = "u"
		}
		got := ""
		switch rule.Kind {
		case trad.Saved:
			got = "c" + strconv.Itoa(int(rule.Off))
		case trad.SavedAt:
			if n, ok := holds(rule.Reg).Plus(rule.Off).Distance(); ok {
				got = "c" + strconv.Itoa(int(n))
			}
		case trad.Same:
			got = "u"
		case trad.InReg:
			got = Arch.RegName(rule.Reg)
		}
		if got == w {
			return
		}
		// There may be two places. The oracle names a slot late, or still when the
		// register has its value back; then its place must have the value, too.
		var at dataflow.Value
		switch {
		case w == "u":
			at = holds(r)
		case w[0] == 'c':
			n, _ := strconv.Atoi(w[1:])
			if at = s.Load(dataflow.FromCFA(int32(n))); spKnown && int32(n) < sp {
				at = holds(r) // the oracle goes on naming a slot below r15
			}
		default:
			at = holds(named(w))
		}
		if at != dataflow.OnEntry(dataflow.Reg(r)) || got == "" {
			fail(list, "%s %s, oracle %s", Arch.RegName(r), got, w)
		}
	}
	check(&bad, R14, row.RA, want.Regs["ra"])
	check(&bad, R11, row.FP, want.Regs["r11"])
	// glibc's assembly saves v24 to v31, and its CFI has f8 to f15 there, whose DWARF numbers are
	// 24 to 31.
	vectors := false
	var f8, f10 int
	if n, _ := fmt.Sscanf(want.Regs["f8"]+" "+want.Regs["f10"], "c%d c%d", &f8, &f10); n == 2 {
		vectors = f10-f8 == 16
	}
	for _, r := range preserved {
		w := want.Regs[Arch.RegName(r)]
		if vectors && w != "" && Arch.RegName(r)[0] == 'f' {
			w = "u"
		}
		check(&other, r, row.Others.Rule(r), w)
	}
	return bad, other, unlike
}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending.
var preserved = [...]trad.Reg{R6, R7, R8, R9, R10, R12, R13, F8, F10, F12, F14, F9, F11, F13, F15}

// byName has the general and floating-point registers.
var byName = func() map[string]trad.Reg {
	m := map[string]trad.Reg{}
	for _, r := range Arch.Regs {
		if r.Num <= F15 {
			m[r.Name] = r.Num
		}
	}
	return m
}()

// named returns the general or floating-point register of that name.
func named(name string) trad.Reg {
	r, ok := byName[name]
	if !ok {
		panic("no register " + name)
	}
	return r
}
