package s390x

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
	wrong, wrongGuess, more                   int // more: wrong rules of registers other than r11 and r14
	unlike                                    int // rows that give the CFA from another register than the oracle, with no way to compare
	missed                                    map[string]int
	epilogues, wrongEpilogue, guessedEpilogue int
	returns, seenReturns                      int
	inFPR, raInFPR                            int // rows with r11, and with r14, in a floating-point register
	shown                                     int
}

func (c *tally) String() string {
	p := func(n int) string { return fmt.Sprintf("%d (%.3f%%)", n, 100*float64(n)/float64(max(1, c.total))) }
	return fmt.Sprintf("%d functions, %d cold parts left out, %d instructions: sure %s, guessed %s, none %s; wrong among the sure %s, among the guessed %s, wrong other registers among the sure %s; not comparable %s; reasons %v; %d epilogue rows, %d wrong, %d wrong guesses, %d of %d returns seen; r11 in a floating-point register %d times, r14 %d times",
		c.functions, c.cold, c.total, p(c.sure), p(c.guess), p(c.none), p(c.wrong), p(c.wrongGuess), p(c.more), p(c.unlike), c.missed,
		c.epilogues, c.wrongEpilogue, c.guessedEpilogue, c.seenReturns, c.returns, c.inFPR, c.raInFPR)
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
		if ra := f.Rows[0].Regs["ra"]; f.Rows[0].CFA != "r15+160" || ra != "u" && ra != "" {
			c.cold++
			continue
		}
		// Nor can a table be compared whose return address is not that in r14.
		if slices.ContainsFunc(f.Rows, func(r rowtest.Row) bool { return r.Regs["r14"] != "" }) {
			c.cold++
			continue
		}
		c.functions++
		a := Machine.Analyse(code, nil, false)
		reported := false
		i, _ := slices.BinarySearch(pcs, f.Lo)
		astray := uint64(0)
		dead := false // behind an unconditional jump, until something else than padding
		for ; i < len(pcs) && pcs[i] < f.Hi; i++ {
			pc := pcs[i]
			// objdump takes the two bytes that trap for a part of the next instruction.
			if strings.HasPrefix(text[pc], ".long") {
				astray = pc
			}
			misread := pc-astray < 16
			op, _, _ := strings.Cut(text[pc], "\t")
			if op = strings.TrimSpace(op); op == "nopr" || op == "nop" || op == ".long" || op == ".short" {
				if dead {
					continue // padding, never executed
				}
			} else {
				dead = op == "j" || op == "jg" || op == "br"
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
			bad, other, unlike := differs(o, &row, want)
			other = slices.DeleteFunc(other, func(d string) bool { return refuted(f, d, pcs, text) })
			if row.Lo != pc && !misread {
				bad = append(bad, fmt.Sprintf("the row begins at %#x", row.Lo))
			}
			if unlike {
				c.unlike++
			}
			if row.Flags&trad.Guess != 0 {
				c.guess++
				if len(bad) > 0 {
					c.wrongGuess++
				}
				continue
			}
			c.sure++
			if row.RA.Kind == trad.InReg {
				c.raInFPR++
			}
			if row.FP.Kind == trad.InReg {
				c.inFPR++
			}
			c.more += len(other)
			if len(bad) > 0 {
				c.wrong++
			}
			if len(bad)+len(other) > 0 && !reported && c.shown < 40 {
				c.shown++
				reported = true
				t.Logf("%s+%#x of %#x: %s: row %s, oracle %s %v: %v %v", file, pc, f.Lo, text[pc], row.Format(Arch.RegName), want.CFA, want.Regs, bad, other)
			}
		}
	}
	return c
}

// refuted reports whether the code, as objdump reads it, refutes a table that difference is
// about: it never says a word of a register that the code writes, as those of hand-written code
// that uses vectors; or it has it in a slot where the code never stores it: the dynamic
// linker's resolver stores v24 to v31, and its table says 24 to 31, which are f8 to f15.
func refuted(f *rowtest.FDE, difference string, pcs []uint64, text map[uint64]string) bool {
	name, rest, _ := strings.Cut(difference, " ")
	ours, theirs, _ := strings.Cut(rest, ", oracle ")
	said := slices.ContainsFunc(f.Rows, func(r rowtest.Row) bool { w := r.Regs[name]; return w != "" && w != "u" && w != "s" })
	switch i, _ := slices.BinarySearch(pcs, f.Lo); {
	case ours == "" && theirs == "u" && !said:
		return touches(pcs[i:], f.Hi, text, name, false)
	case ours == "u" && strings.HasPrefix(theirs, "c"):
		return !touches(pcs[i:], f.Hi, text, name, true)
	}
	return false
}

// touches reports whether an instruction before hi stores a register, or else gets it a value.
func touches(pcs []uint64, hi uint64, text map[uint64]string, name string, store bool) bool {
	for _, pc := range pcs {
		if pc >= hi {
			break
		}
		op, args, _ := strings.Cut(text[pc], "\t")
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

// registerNumber is that of a register as objdump writes it.
func registerNumber(register string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(strings.TrimSpace(register), "%rf"))
	return n
}

// epilogue compares what ReadEpilogue says of one instruction.
func (c *tally) epilogue(t *testing.T, a *values.Analysis, f *rowtest.FDE, code []byte, pc uint64, text string) {
	row, out := Machine.ReadEpilogue(code[pc-f.Lo:], pc)
	ok := out&arch.TearsDown != 0
	op := strings.Fields(text)
	o, reached := a.At(int32(pc - f.Lo))
	isReturn := op[0] == "br" && op[1] == "%r14" && reached && o.Reg(values.Reg(R14)) == values.OnEntry(values.Reg(R14))
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
	if !reached {
		return
	}
	want := f.At(pc)
	bad, other, _ := differs(o, &row, want)
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
func differs(s *values.State, row *trad.Row, want *rowtest.Row) (bad, other []string, unlike bool) {
	fail := func(list *[]string, format string, args ...any) {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
	// In leaves that save r11 and r15 in floating-point registers, gcc has the CFA
	// at r15+160 as soon as r11 is restored, although r15 is not: its own rule for
	// r15 says so.
	holds := func(r trad.Reg) values.Value { return s.Reg(values.Reg(r)) }
	sp, spKnown := holds(R15).Distance()
	if w := want.Regs["r15"]; strings.HasPrefix(w, "f") && holds(named(w)) == values.FromCFA(entrySP) && spKnown && want.CFA == "r15+160" {
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
	case rule.Kind == trad.InReg && holds(rule.Reg).Plus(rule.Off) != values.FromCFA(0):
		fail(&bad, "CFA from another register than the oracle's")
	case rule.Kind == trad.ValExpr:
		x := row.Others.Exprs[rule.Off].(values.SavedSP)
		if s.Load(holds(x.Reg).Plus(x.Off)) != values.FromCFA(entrySP) {
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
		var at values.Value
		switch {
		case w == "u":
			at = holds(r)
		case w[0] == 'c':
			n, _ := strconv.Atoi(w[1:])
			if at = s.Load(values.FromCFA(int32(n))); spKnown && int32(n) < sp {
				at = holds(r) // the oracle goes on naming a slot below r15
			}
		default:
			at = holds(named(w))
		}
		if at != values.OnEntry(values.Reg(r)) || got == "" {
			fail(list, "%s %s, oracle %s", Arch.RegName(r), got, w)
		}
	}
	check(&bad, R14, row.RA, want.Regs["ra"])
	check(&bad, R11, row.FP, want.Regs["r11"])
	// glibc's assembly saves v24 to v31, and its CFI has f8 to f15 there, whose DWARF numbers are 24
	// to 31.
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
