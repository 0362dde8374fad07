package rowtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// A Tally counts what came of the functions of a file and of their instructions.
type Tally struct {
	Functions, Total   int
	LeftOut            map[string]int // functions, by reason
	Sure, Guess, None  int            // instructions that have a sure row, a guess, no row
	Missed             map[string]int // instructions that have no row, by reason
	Wrong, WrongGuess  int            // rows that are wrong in what every frame needs
	WrongIn            int            // functions with such rows that are sure
	Other, Rules       int            // sure rows that are wrong in other registers, and their wrong rules
	Unknown            int            // sure rows that do not follow every register
	Unlike             int            // rows that give the CFA from another register than the oracle, with no way to compare
	FPInReg, RAInReg   int            // sure rows that have the FP, and the RA, in another register
	Epilogues, Returns int            // instructions at which ReadEpilogue finds an epilogue, and instructions that return
	SureEpilogues      int            // neither the row nor the state that it is compared by is a guess
	WrongEpilogue      int            // of them
	WrongEpilogueGuess int
	SeenReturns        int // returns that ReadEpilogue finds
	SureReturns        int // as SureEpilogues
	logged             int
}

func (c *Tally) String() string {
	p := func(n int) string { return fmt.Sprintf("%d (%.3f%%)", n, 100*float64(n)/float64(max(1, c.Total))) }
	return fmt.Sprintf("%d functions, left out %v, %d instructions: sure %s, guessed %s, none %s %v; wrong among the sure %s in %d functions, among the guessed %s; wrong other registers in %s, %d rules, some not followed %s; not comparable %s; FP in another register %d times, RA %d times; %d epilogue rows, %d of them sure, %d of these wrong, %d wrong guesses; %d of %d returns seen, %d of them sure",
		c.Functions, c.LeftOut, c.Total, p(c.Sure), p(c.Guess), p(c.None), c.Missed, p(c.Wrong), c.WrongIn, p(c.WrongGuess), p(c.Other), c.Rules, p(c.Unknown), p(c.Unlike), c.FPInReg, c.RAInReg,
		c.Epilogues, c.SureEpilogues, c.WrongEpilogue, c.WrongEpilogueGuess, c.SeenReturns, c.Returns, c.SureReturns)
}

// An Instruction is one of a function that is compared.
type Instruction struct {
	PC     uint64
	Code   []byte          // from PC on
	Text   string          // objdump's
	Before string          // the text of the instruction before, but for padding
	State  *dataflow.State // before it runs; nil where no way leads there
}

// Compare compares the row of every instruction of a file with the oracle's. Each function's code
// has up to extra bytes more behind it.
func (p *Processor) Compare(t *testing.T, file string, extra uint64) *Tally {
	t.Helper()
	c := &Tally{LeftOut: map[string]int{}, Missed: map[string]int{}}
	for _, f := range p.functions(t, file, extra) {
		if strings.HasPrefix(f.section, ".plt") {
			continue
		}
		why := "a cold part" // what begins with a frame already made, of a function that begins elsewhere
		if f.Rows[0].CFA == p.Entry {
			why = p.LeaveOut(f.FDE, f.lines)
		}
		if why == "" && p.Unwound && slices.ContainsFunc(f.pcs, func(pc uint64) bool {
			i := slices.Index(f.pcs, pc)
			return f.At(pc).CFA != p.Entry && p.Returns(&Instruction{Text: f.lines[i]})
		}) {
			why = "its table has a frame at a return"
		}
		if why != "" {
			c.LeftOut[why]++
			continue
		}
		c.Functions++
		p.compare(t, c, file, f)
	}
	return c
}

// compare compares the rows of a function with the oracle's.
func (p *Processor) compare(t *testing.T, c *Tally, file string, f *function) {
	t.Helper()
	a := p.Machine.Analyse(f.code, nil, false)
	wrong, logged, before, astray := c.Wrong, false, "", uint64(0)
	for i, pc := range f.pcs {
		s, _ := a.At(int32(pc - f.Lo))
		in := &Instruction{pc, f.code[pc-f.Lo:], f.lines[i], before, s}
		// objdump takes the two bytes that trap for a part of the next instruction.
		if strings.HasPrefix(in.Text, ".long") {
			astray = pc
		}
		if p.Padding(in) {
			continue
		}
		before = in.Text
		c.Total++
		want := f.At(pc)
		p.epilogue(t, c, in, want, f.FDE)
		row, why := a.Row(f.Lo, int32(pc-f.Lo))
		if why != "" {
			c.None++
			if c.Missed[why]++; c.Missed[why] <= 4 {
				t.Logf("%s: %#x of %#x: %s: no row: %s", filepath.Base(file), pc, f.Lo, in.Text, why)
			}
			continue
		}
		bad, other, unlike := p.Differs(s, &row, want, f.FDE)
		if p.Refutes != nil {
			other = slices.DeleteFunc(other, func(d string) bool { return p.Refutes(f.FDE, d, f.lines) })
		}
		if row.Lo != pc && pc-astray >= 16 {
			bad = append(bad, fmt.Sprintf("the row begins at %#x", row.Lo))
		}
		count(&c.Unlike, unlike)
		if row.Flags&trad.Guess != 0 {
			c.Guess++
			count(&c.WrongGuess, len(bad) > 0)
			continue
		}
		c.Sure++
		count(&c.Wrong, len(bad) > 0)
		count(&c.Other, len(other) > 0)
		c.Rules += len(other)
		count(&c.Unknown, row.FP.Kind == trad.NotTracked || slices.ContainsFunc(row.Others.Regs, func(r trad.RegRule) bool { return r.Rule.Kind == trad.NotTracked }))
		count(&c.FPInReg, row.FP.Kind == trad.InReg)
		count(&c.RAInReg, row.RA.Kind == trad.InReg)
		if len(bad)+len(other) > 0 && !logged && c.logged < 40 {
			logged = true
			c.logged++
			t.Logf("%s: %#x of %#x: %s: row %s, oracle %s %v: %v %v", filepath.Base(file), pc, f.Lo, in.Text, row.Format(p.Arch.RegName), want.CFA, want.Regs, bad, other)
		}
	}
	count(&c.WrongIn, c.Wrong > wrong)
}

// count adds one to n if so is set.
func count(n *int, so bool) {
	if so {
		*n++
	}
}

// epilogue compares the answer of ReadEpilogue at one instruction.
func (p *Processor) epilogue(t *testing.T, c *Tally, in *Instruction, want *Row, f *FDE) {
	t.Helper()
	row, out := p.Machine.ReadEpilogue(in.Code, in.PC)
	isReturn := p.Returns(in)
	found := out&arch.TearsDown != 0
	guess := row.Flags&trad.Guess != 0
	sure := found && !guess && in.State != nil && !in.State.Guess()
	count(&c.Returns, isReturn)
	count(&c.Epilogues, found)
	count(&c.SureEpilogues, sure)
	count(&c.SeenReturns, found && isReturn)
	count(&c.SureReturns, sure && isReturn)
	if !found || in.State == nil {
		return
	}
	bad, other, _ := p.Differs(in.State, &row, want, f)
	count(&c.WrongEpilogueGuess, guess && len(bad)+len(other) > 0)
	if sure && len(bad)+len(other) > 0 {
		if c.WrongEpilogue++; c.WrongEpilogue < 10 {
			t.Logf("epilogue at %#x of %#x: %s: row %s, oracle %s %v: %v %v", in.PC, f.Lo, in.Text, row.Format(p.Arch.RegName), want.CFA, want.Regs, bad, other)
		}
	}
}
