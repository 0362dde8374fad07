package fromcfi

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/trad"
)

// A Row is a line of a call frame information table in SFrame's terms. If the line's expressions
// depend on the PC, a Row is a part of it.
type Row struct {
	// Row has the rules. A rule that SFrame has no form for is RuleNone. An outermost row has only
	// RowOutermost and RA.
	sframe.Row
	// Reason says why SFrame has no form for the row, "" if it has one; Detail is
	// the rule in question, as DWARF has it.
	Reason, Detail string

	varies bool // the rules vary with the PC
}

// Hi returns the address behind the row's last byte.
func (r *Row) Hi() uint64 { return r.Lo + uint64(r.Len) }

// says reports whether two rows say the same. Their addresses do not count.
func (r *Row) says(o *Row) bool {
	return r.Flags == o.Flags && r.CFA == o.CFA && r.RA == o.RA && r.FP == o.FP && r.Reason == o.Reason && r.varies == o.varies
}

// Rows iterates over the rows of f, an FDE of this Source, in ascending order and
// without gaps. Adjacent rows that say the same are one. The iteration ends after
// an error, which means that the FDE is malformed.
func (s *Source) Rows(f *FDE) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var last Row
		for row, err := range s.lines(f) {
			switch {
			case err != nil:
				if last.Len == 0 || yield(last, nil) {
					yield(Row{}, err)
				}
				return
			case last.Len > 0 && row.says(&last) && last.Len+row.Len > last.Len:
				last.Len += row.Len
				continue
			case last.Len > 0 && !yield(last, nil):
				return
			}
			last = row
		}
		if last.Len > 0 {
			yield(last, nil)
		}
	}
}

// lines iterates over the lines of an FDE. It cuts a line that varies with the PC where its rules
// change.
func (s *Source) lines(f *FDE) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for line, err := range f.section.Rows(f.FDE) {
			if err != nil && !errors.Is(err, cfi.ErrNoCFA) {
				yield(Row{}, err)
				return
			}
			if line.Lo >= f.Hi {
				return
			}
			line.Len = uint32(min(uint64(line.Len), f.Hi-line.Lo))
			if err != nil {
				row := Row{Row: sframe.Row{Lo: line.Lo, Len: line.Len}, Reason: noCFA}
				if !yield(row, nil) {
					return
				}
				continue
			}
			row := s.row(f, &line, line.Lo)
			if !row.varies {
				if !yield(row, nil) {
					return
				}
				continue
			}
			last := row
			last.Len = 1
			for pc := line.Lo + 1; pc < line.Lo+uint64(line.Len); pc++ {
				if row = s.row(f, &line, pc); row.says(&last) {
					last.Len++
					continue
				}
				if !yield(last, nil) {
					return
				}
				last = row
				last.Lo, last.Len = pc, 1
				if s.work > maxWork { // further translations would fail, too
					last.Len = uint32(line.Lo + uint64(line.Len) - pc)
					break
				}
			}
			if !yield(last, nil) {
				return
			}
		}
	}
}

// row translates a line for one PC in it.
func (s *Source) row(f *FDE, line *trad.Row, pc uint64) Row {
	row := Row{Row: sframe.Row{Lo: line.Lo, Len: line.Len}}
	if f.CIE.Signal {
		row.Flags |= sframe.RowSignal
	}
	if line.Flags&trad.Outermost != 0 {
		row.Flags |= sframe.RowOutermost
		row.RA = sframe.Rule{Kind: sframe.RuleUndefined}
		return row
	}
	if s.pauth() {
		if line.Flags&trad.MangledRA != 0 {
			row.Flags |= sframe.RowMangledRA
		}
		if f.CIE.KeyB {
			row.Flags |= sframe.RowPauthB
		}
	}
	t := translation{s: s, line: line, pc: pc, row: &row}
	row.CFA = t.cfa()
	row.RA = t.ra(f.CIE.RA)
	row.FP = t.fp()
	t.sp()
	return row
}

func (s *Source) pauth() bool { return s.ABI == sframe.AArch64LE || s.ABI == sframe.AArch64BE }

// A translation translates one line for one PC.
type translation struct {
	s    *Source
	line *trad.Row
	pc   uint64
	row  *Row
}

// cannot notes the first thing that SFrame has no form for.
func (t *translation) cannot(detail, format string, args ...any) sframe.Rule {
	if t.row.Reason == "" {
		t.row.Reason, t.row.Detail = fmt.Sprintf(format, args...), detail
	}
	return sframe.Rule{}
}

func (t *translation) cfa() sframe.Rule {
	switch rule := t.line.CFA; rule.Kind {
	case trad.InReg:
		return sframe.Rule{Kind: sframe.RuleInReg, Reg: uint16(rule.Reg), Off: rule.Off}
	case trad.ValExpr:
		return t.expression("CFA", rule)
	}
	return t.cannot("", noCFA)
}

// noCFA is the Reason of a row for code where DWARF has no CFA.
const noCFA = "the CFA has no rule"

// Empty reports whether DWARF has no rules for the row's code.
func (r *Row) Empty() bool { return r.Reason == noCFA }

func (t *translation) ra(column trad.Reg) sframe.Rule {
	ra := t.s.ABI.RA()
	if column != trad.Reg(ra) {
		return t.cannot(fmt.Sprintf("column %d", column), "the return address column is not the ABI's")
	}
	if t.line.RA.Kind == trad.Same && t.s.ABI == sframe.AMD64 {
		return t.cannot("", "RA has no rule")
	}
	rule := t.rule("RA", t.line.RA)
	if rule == (sframe.Rule{Kind: sframe.RuleInReg, Reg: ra}) {
		rule = sframe.Rule{Kind: sframe.RuleSame}
	}
	return rule
}

func (t *translation) fp() sframe.Rule {
	rule := t.rule("FP", t.line.FP)
	if rule == (sframe.Rule{Kind: sframe.RuleInReg, Reg: t.s.ABI.FP()}) {
		rule = sframe.Rule{Kind: sframe.RuleSame}
	}
	return rule
}

// rule translates the rule of RA or FP.
func (t *translation) rule(name string, rule trad.Rule) sframe.Rule {
	switch rule.Kind {
	case trad.Same:
		return sframe.Rule{Kind: sframe.RuleSame}
	case trad.Saved:
		return sframe.Rule{Kind: sframe.RuleSaved, Off: rule.Off}
	case trad.Value:
		return sframe.Rule{Kind: sframe.RuleValue, Off: rule.Off}
	case trad.InReg:
		return sframe.Rule{Kind: sframe.RuleInReg, Reg: uint16(rule.Reg), Off: rule.Off}
	case trad.Expr, trad.ValExpr:
		return t.expression(name, rule)
	}
	return t.cannot("", "%s is undefined", name)
}

// s390xSP is PREVIOUS's SP on s390x, relative to the CFA (SFRAME_S390X_SP_VAL_OFFSET).
const s390xSP = -160

// sp checks that PREVIOUS's SP is the one that SFrame assumes: the CFA or, on s390x, the CFA less
// the register save area. Otherwise it notes the reason in the row.
func (t *translation) sp() {
	more, sp := t.line.Others, trad.Reg(t.s.ABI.SP())
	if more == nil || !more.Lists(sp) {
		return
	}
	rule := more.Rule(sp)
	s390x := t.s.ABI == sframe.S390X
	switch rule.Kind {
	case trad.Same:
		return
	case trad.Value:
		if s390x && rule.Off == s390xSP || !s390x && rule.Off == 0 {
			return
		}
	case trad.Saved, trad.InReg:
		// The ABI fixes the saved value.
		if s390x {
			return
		}
	case trad.Expr, trad.ValExpr:
		if is := t.expression("SP", rule); is == (sframe.Rule{}) || is == t.row.CFA || is == (sframe.Rule{Kind: sframe.RuleValue}) {
			return // if is is zero, the row has its reason already
		}
	}
	detail := "an expression"
	if rule.Kind != trad.Expr && rule.Kind != trad.ValExpr {
		detail = t.rule("SP", rule).String()
	}
	t.cannot(detail, "PREVIOUS's SP is not what SFrame derives from the CFA")
}
