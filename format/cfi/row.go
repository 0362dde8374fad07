package cfi

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/trad"
)

// unlistedSame is the OtherRules of all rows without rules for other registers: a register that
// DWARF does not mention is unchanged.
var unlistedSame = &trad.OtherRules{Default: trad.Same}

// row returns the machine's current line. If the line is too long for one row, row
// returns the part that has pc. last is the OtherRules of another row of the FDE, or nil.
func (m *machine) row(pc uint64, last *trad.OtherRules) (trad.Row, error) {
	if m.maybe.at != 0 {
		m.settle()
	}
	t := &m.top
	row := trad.Row{Lo: m.lo, CFA: t.cfa, RA: t.ra, FP: t.fp}
	if n := m.hi - m.lo; n <= math.MaxUint32 {
		row.Len = uint32(n)
	} else {
		row.Lo += (pc - m.lo) / math.MaxUint32 * math.MaxUint32
		row.Len = uint32(min(m.hi-row.Lo, math.MaxUint32))
	}
	if m.fde.CIE.Signal {
		row.Flags |= trad.Signal
	}
	if t.signed {
		row.Flags |= trad.MangledRA
	}
	if row.RA.Kind == trad.Undefined {
		row.Flags |= trad.Outermost
	}
	if row.CFA.Kind == trad.NotTracked {
		row.CFA = trad.Rule{}
		if row.Flags&trad.Outermost == 0 {
			return row, &Error{Kind: m.s.Kind, Entry: "FDE", Offset: m.fde.Offset, Reason: fmt.Sprintf("the CFA is not defined at %#x", m.lo), Err: ErrNoCFA}
		}
	}
	regs := m.registers(&m.top)
	if m.s.link != 0 && (m.fde.CIE.RA != m.s.link || m.s.pc != 0 && lists(regs, m.s.pc)) {
		row.RA, regs = m.unusual(regs)
	}
	row.Others = m.otherRules(&row, regs, last)
	if row.RA.Kind == trad.NotTracked {
		row.RA.Kind = trad.Same
	}
	if row.FP.Kind == trad.NotTracked {
		row.FP.Kind = trad.Same
	}
	return row, nil
}

func isExpr(r trad.Rule) bool { return r.Kind == trad.Expr || r.Kind == trad.ValExpr }

// unusual returns the rules of PREVIOUS's PC and of the other registers. It is for tables whose
// return address column does not give both the PC and the link register of PREVIOUS.
func (m *machine) unusual(regs []trad.RegRule) (pc trad.Rule, others []trad.RegRule) {
	column, s := m.fde.CIE.RA, m.s
	pc, others = m.top.ra, slices.Clone(regs)
	switch i, own := find(others, s.pc); {
	case own && s.pc != 0:
		rule := others[i].Rule
		others = slices.Delete(others, i, i+1)
		if rule.Kind == trad.Same { // every call changes the PC
			return pc, others
		}
		pc = rule
		if m.top.ra.Kind != trad.NotTracked {
			i, _ = find(others, column)
			others = slices.Insert(others, i, trad.RegRule{Reg: column, Rule: m.top.ra})
		}
	case pc.Kind != trad.NotTracked:
	case column != s.pc:
		pc = trad.Rule{Kind: trad.InReg, Reg: column} // nothing has changed it
	default: // the table does not mention the PC: it is where a call puts it, in the link register
		if i, listed := find(others, s.link); listed {
			pc = others[i].Rule
		}
		return pc, others
	}
	if i, listed := find(others, s.link); !listed {
		others = slices.Insert(others, i, trad.RegRule{Reg: s.link, Rule: trad.Rule{Kind: trad.Undefined}})
	}
	return pc, others
}

// otherRules returns the row's OtherRules with the rules regs. It changes the expression rules of
// the row to refer to them.
func (m *machine) otherRules(row *trad.Row, regs []trad.RegRule, last *trad.OtherRules) *trad.OtherRules {
	n := 0
	for _, r := range [...]trad.Rule{row.CFA, row.RA, row.FP} {
		if isExpr(r) {
			n++
		}
	}
	for i := range regs {
		if isExpr(regs[i].Rule) {
			n++
		}
	}
	switch {
	case n > 0:
	case len(regs) == 0:
		return unlistedSame
	case last != nil && len(last.Exprs) == 0 && slices.Equal(last.Regs, regs):
		return last
	}
	if n == 0 {
		return m.s.otherRules.of(regs)
	}
	x := newOtherRules(regs)
	exprs := make([]expr.Rule, n)
	x.Exprs = make([]trad.Expression, 0, n)
	move := func(r *trad.Rule) {
		if isExpr(*r) {
			i := len(x.Exprs)
			exprs[i] = m.s.expression(int(uint32(r.Off)), &m.fde)
			if m.exchanged {
				exprs[i].Exchanged = m.s.exchange
			}
			x.Exprs = append(x.Exprs, &exprs[i])
			r.Off = int32(i)
		}
	}
	move(&row.CFA)
	move(&row.RA)
	move(&row.FP)
	for i := range x.Regs {
		move(&x.Regs[i].Rule)
	}
	return x
}

func newOtherRules(regs []trad.RegRule) *trad.OtherRules {
	// One object for the callee-saved registers of most machines.
	var x *trad.OtherRules
	if len(regs) <= 6 {
		short := new(struct {
			trad.OtherRules
			regs [6]trad.RegRule
		})
		x = &short.OtherRules
		x.Regs = short.regs[:len(regs):len(regs)]
	} else {
		x = &trad.OtherRules{Regs: make([]trad.RegRule, len(regs))}
	}
	x.Default = trad.Same
	copy(x.Regs, regs)
	return x
}

// otherRulesCache keeps the OtherRules of rows for other rows with the same rules. Few of them are
// different.
type otherRulesCache [64]atomic.Pointer[trad.OtherRules]

func (k *otherRulesCache) of(regs []trad.RegRule) *trad.OtherRules {
	hash := uint32(len(regs))
	for _, r := range regs {
		hash = hash*0x9e3779b1 + uint32(r.Reg)<<16 ^ uint32(r.Rule.Off) ^ uint32(r.Rule.Kind)<<8 ^ uint32(r.Rule.Reg)<<24
	}
	place := &k[(hash^hash>>15)%uint32(len(k))]
	if x := place.Load(); x != nil && slices.Equal(x.Regs, regs) {
		return x
	}
	x := newOtherRules(regs)
	place.Store(x)
	return x
}

// Rows iterates over the lines of the table of f, an FDE of this section, in
// ascending order of address. It leaves out empty lines. Together the rows cover the FDE. A line
// without a CFA gives a row with only its range, and an error that wraps ErrNoCFA. The iteration
// ends after any other error.
func (s *Section) Rows(f FDE) iter.Seq2[trad.Row, error] {
	return func(yield func(trad.Row, error) bool) {
		m := machine{fde: f}
		var last *trad.OtherRules
		err := m.start(s)
		for err == nil && m.hi < f.Start+f.Len {
			if err = m.line(); err != nil {
				break
			}
			for pc := m.lo; pc < m.hi; {
				var row trad.Row
				if row, err = m.row(pc, last); errors.Is(err, ErrNoCFA) {
					if !yield(trad.Row{Lo: row.Lo, Len: row.Len}, err) {
						return
					}
					err, pc = nil, row.Lo+uint64(row.Len)
					continue
				}
				if err != nil {
					break
				}
				if !yield(row, nil) {
					return
				}
				last, pc = row.Others, row.Lo+uint64(row.Len)
			}
		}
		if err != nil {
			yield(trad.Row{}, err)
		}
	}
}
