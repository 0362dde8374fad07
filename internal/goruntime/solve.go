package goruntime

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Previous says where PREVIOUS's registers are at one instruction of a function of assembly.
type Previous struct {
	known bool
	Row   trad.Row // without Lo and Len
	// Saved is not nil if PREVIOUS is in the goroutine's struct g alone. Row then has no CFA.
	Saved *Saved
	// Left is the CFA's distance from the stack pointer in struct g if the function has left
	// the goroutine's stack by gosave_systemstack_switch; else 0.
	Left int64
	// Callback is not nil if the function runs Go on a goroutine's stack, and is called by C on
	// another one. Row then leads to C. It has no CFA if g0.sched.sp alone says where the
	// function's frame is.
	Callback *Callback
}

// Saved has the offsets in a struct g at which a function has put the registers that it began
// with. 0 stands for a register that is not there: no struct g begins with one.
type Saved struct {
	SP     int64 // of the stack pointer; 0 if it is where Layout.SP says
	FromSP int64 // the CFA's distance from that stack pointer
	RA, FP int64
	InTail int64 // of Machine.InTail
}

// solve returns how to find the registers of PREVIOUS from a state. fromC says that C calls the
// function: the registers that the function has not changed are then still its caller's. In a
// function that Go calls they may not be: another function may have changed some and jumped to it.
func solve(m *Machine, s *state, fromC bool) (a Previous) {
	a.known = true
	sp := s.get(m.sp)
	var exprs []trad.Expression
	cfa := trad.Rule{}
	switch e := (trad.Expression)(nil); {
	case sp.from(m.sp):
		cfa = trad.Rule{Kind: trad.InReg, Reg: m.sp, Off: int32(m.pushed + s.shift - sp.off)}
	default:
		if e = byDistance(m, s, sp); e == nil {
			if r, ok := m.holds(s); ok {
				cfa = trad.Rule{Kind: trad.InReg, Reg: r, Off: int32(m.pushed + s.shift - s.get(r).off)}
			} else if e = byWord(m, s, sp); e == nil {
				if b := solveSaved(m, s); b.known {
					return b
				}
			}
		}
		if e != nil {
			cfa, exprs = trad.Rule{Kind: trad.ValExpr}, []trad.Expression{e}
		}
		if sp.reg != sameStack {
			a.Row.Flags |= trad.OtherStack
			a.Callback = s.callback(m)
		}
		if cfa.Kind == trad.NotTracked && a.Callback == nil {
			return Previous{}
		}
	}
	a.Row.CFA = cfa
	a.Row.RA = s.rule(m, m.ra)
	a.Row.FP = s.rule(m, m.fp)
	if m.NoFP && !fromC {
		a.Row.FP = trad.Rule{Kind: trad.Undefined}
	}
	gone := trad.Undefined
	if k := a.Row.RA.Kind; k == gone || k == trad.InReg || a.Row.FP.Kind == gone && a.Row.Flags&trad.OtherStack != 0 {
		if b := solveSaved(m, s); b.Saved != nil && b.Saved.RA != 0 && (b.Saved.FP != 0 || m.NoFP) {
			return b
		}
	}
	if a.Row.RA.Kind == trad.Undefined {
		return Previous{}
	}
	if s.saved.from(m.sp) && a.Row.Flags&trad.OtherStack != 0 {
		a.Left = m.pushed - s.saved.off
	}
	a.Row.Others = s.others(m, exprs, fromC)
	return a
}

// holds returns a register that has a known distance from the stack pointer's first value. If the
// frame pointer has one, holds returns it.
func (m *Machine) holds(s *state) (r trad.Reg, ok bool) {
	if s.get(m.fp).from(m.sp) {
		return m.fp, true
	}
	for r := range trad.Reg(m.regs) {
		if s.get(r).from(m.sp) {
			return r, true
		}
	}
	return arch.NoReg, false
}

// near returns the words that are at known distances from the stack pointer, none below it.
func near(s *state, sp value) (list []word) {
	for _, w := range s.words {
		at := w.at
		at.off = sp.off
		if w.at.kind == fresh && equal(at, sp) && w.at.off >= sp.off {
			list = append(list, w)
		}
	}
	return list
}

// byDistance finds the stack pointer's first value as asmcgocall stores it: as its distance from
// the end of the goroutine's stack, which may move, together with the struct g that has that end.
func byDistance(m *Machine, s *state, sp value) trad.Expression {
	words := near(s, sp)
	for _, w := range words {
		v := w.value
		if v.kind != distance || v.of.kind != deref || v.of.off != 0 || !v.less.from(m.sp) {
			continue
		}
		g := *v.of.of
		for _, x := range words {
			if y := x.value; equal(y.plus(g.off-y.off), g) && g.off-y.off == StackHi {
				return depthExpression{
					sp: m.sp, g: x.at.off - sp.off, depth: w.at.off - sp.off,
					cfa: m.pushed + s.shift - v.less.off - v.off,
				}
			}
		}
	}
	return nil
}

// byWord finds the stack pointer's first value stored as it is.
func byWord(m *Machine, s *state, sp value) trad.Expression {
	for _, w := range near(s, sp) {
		if w.value.from(m.sp) {
			return wordExpression{sp: m.sp, at: w.at.off - sp.off, cfa: m.pushed + s.shift - w.value.off}
		}
	}
	return nil
}

// rule returns the rule by which a register's first value is found. It prefers a word in the frame
// that has the value.
func (s *state) rule(m *Machine, r trad.Reg) trad.Rule {
	sp := s.get(m.sp)
	below := trad.Rule{Kind: trad.Undefined}
	is := func(v value) bool { return v.is(r) }
	if r == m.ra && s.elsewhere.kind != unknown {
		is = func(v value) bool { return equal(v, s.elsewhere) }
		if is(s.read(*s.elsewhere.of)) { // where the caller's stack has it
			return trad.Rule{Kind: trad.Saved, Off: int32(s.elsewhere.of.off - m.pushed - s.shift)}
		}
	}
	for _, w := range s.words {
		if !is(w.value) || !w.at.from(m.sp) {
			continue
		}
		rule := trad.Rule{Kind: trad.Saved, Off: int32(w.at.off - m.pushed - s.shift)}
		if !sp.from(m.sp) || w.at.off >= sp.off {
			return rule
		}
		below = rule
	}
	if is(s.get(r)) {
		return trad.Rule{Kind: trad.Same}
	}
	if below.Kind == trad.Saved {
		return below
	}
	for _, w := range near(s, sp) {
		if is(w.value) {
			return trad.Rule{Kind: trad.SavedAt, Reg: m.sp, Off: int32(w.at.off - sp.off)}
		}
	}
	for x := range trad.Reg(m.regs) {
		if is(s.get(x)) {
			return trad.Rule{Kind: trad.InReg, Reg: x}
		}
	}
	return trad.Rule{Kind: trad.Undefined}
}

// others returns rules for the other registers that are known, and for the registers that C
// preserves and Go does not. While it calls load_g, _cgo_topofstack keeps values in registers that
// C does not preserve. For the rest, the architecture says whether they are lost, or no frame's
// own.
func (s *state) others(m *Machine, exprs []trad.Expression, fromC bool) *trad.OtherRules {
	rest := &trad.OtherRules{Default: trad.Same, Exprs: exprs}
	for r := range trad.Reg(m.regs) {
		rule, kept := s.rule(m, r), slices.Contains(m.kept, r)
		switch {
		case r == m.sp && m.Arch.SPFromCFA != 0: // C's functions have more of a stack at the CFA than Go's
			rule = trad.Rule{Kind: trad.Value}
		case r == m.sp || r == m.fp || r == m.ra:
			continue
		case rule.Kind == trad.Saved || rule.Kind == trad.SavedAt || rule.Kind == trad.Same && r == m.InTail,
			fromC && (rule.Kind == trad.Same || rule.Kind == trad.InReg):
		case kept && (rule.Kind != trad.Same || !fromC && r != m.G):
			rule = trad.Rule{Kind: trad.Undefined}
		default:
			continue
		}
		rest.Regs = append(rest.Regs, trad.RegRule{Reg: r, Rule: rule})
	}
	return rest
}

// solveSaved says where PREVIOUS's registers are in a struct g.
func solveSaved(m *Machine, s *state) Previous {
	a := Previous{known: true, Row: trad.Row{RA: s.rule(m, m.ra), FP: s.rule(m, m.fp)}}
	for _, w := range s.words {
		if !w.value.from(m.sp) || w.at.kind != local && (w.at.kind != entry || w.at.from(m.sp)) || w.at.off <= 0 {
			continue
		}
		find := func(r trad.Reg) int64 {
			for _, x := range s.words {
				if x.value.is(r) && x.at.off > 0 && equal(x.at.plus(w.at.off-x.at.off), w.at) {
					return x.at.off
				}
			}
			return 0
		}
		a.Saved = &Saved{SP: w.at.off, FromSP: m.pushed - w.value.off, RA: find(m.ra), FP: find(m.fp)}
		if m.InTail != arch.NoReg {
			a.Saved.InTail = find(m.InTail)
		}
		return a
	}
	if s.saved.from(m.sp) {
		a.Saved = &Saved{FromSP: m.pushed - s.saved.off} // Layout.SP has the offset
		return a
	}
	return Previous{}
}
