package ahead

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// A Machine searches the code of a processor.
type Machine struct {
	*dataflow.Machine
	base      dataflow.Set // the registers that a CFA may be found from
	changed   dataflow.Set // registers that the ABI lets a function change
	preserved []uint8      // those, beside SP and FP, that a caller wants back
}

// New returns the search for a processor.
func New(m *dataflow.Machine) *Machine {
	x := &Machine{Machine: m, base: 1<<m.Regs - 1}
	if m.Pushed != 0 {
		x.base &^= m.RA.Bit()
	}
	x.changed = x.base &^ m.Preserved
	x.base &^= m.Floats
	for r := range dataflow.Reg(m.Regs) {
		if (m.Preserved &^ (m.SP.Bit() | m.FP.Bit())).Has(r) {
			x.preserved = append(x.preserved, uint8(r))
		}
	}
	return x
}

// dwarf returns a register's DWARF number.
func (m *Machine) dwarf(r uint8) trad.Reg { return m.DWARF(dataflow.Reg(r)) }

// ReadAhead implements arch.Arch.ReadAhead. The steps that it returns count the steps in called
// functions, too.
func (m *Machine) ReadAhead(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64), yield func(row trad.Row, calls int) bool) (steps int) {
	if pc < start || pc-start >= uint64(len(code)) {
		return 0
	}
	step := m.stepper().step
	first := state{}
	first.start(0, int32(m.Word))
	length := max(1, step(code, int32(pc-start), &first).next-int32(pc-start))
	c := calls{m: m, code: code, left: maxWritten}
	f := search{step: step, loses: c.loses, word: int32(m.Word)}
	f.found = func(s *state, w *way, calls int) bool {
		row, ok := m.row(s, w)
		if !ok {
			return true
		}
		row.Lo, row.Len = pc, uint32(length)
		return yield(row, calls)
	}
	if away != nil {
		f.away = func(at int64) ([]byte, int64) {
			to := m.Address(start + uint64(at))
			code, begin := away(to)
			return code, at - int64(to-begin)
		}
	}
	f.follow(code, int32(pc-start), uint64(m.SP.Bit()|m.FP.Bit()))
	return f.steps + maxWritten - c.left + perCall*len(c.known)
}

// row makes the row of a way out.
func (m *Machine) row(s *state, w *way) (row trad.Row, ok bool) {
	cfa := w.cfa
	if cfa.kind != sum || !m.base.Has(dataflow.Reg(cfa.reg)) {
		return row, false
	}
	if s.left && s.frame>>cfa.reg&1 == 0 {
		return row, false // it leaves its stack for another one, and this is no return from THIS
	}
	if w.kind == wayEnd {
		row.Flags = trad.Outermost
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: m.dwarf(cfa.reg), Off: cfa.add}
		return row, !cfa.deref
	}
	rest := &trad.OtherRules{Default: trad.Same}
	if cfa.deref {
		row.CFA = trad.Rule{Kind: trad.ValExpr}
		rest.Exprs = []trad.Expression{dataflow.SavedSP{Reg: m.dwarf(cfa.reg), Off: cfa.at, Add: cfa.add}}
	} else {
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: m.dwarf(cfa.reg), Off: cfa.add}
	}
	if m.Pushed != 0 && !w.link.known() {
		at := cfa.Plus(m.Pushed)
		if row.RA = (trad.Rule{Kind: trad.Saved, Off: m.Pushed}); s.load(at) != at.saved() { // the way has put it there
			if row.RA = m.rule(s.load(at), m.DWARF(m.RA), cfa); w.kind != wayReturn || row.RA.Kind == trad.Undefined {
				return row, false
			}
		}
	} else if row.RA = m.rule(w.link, m.DWARF(m.RA), cfa); row.RA.Kind == trad.Undefined {
		return row, false
	}
	row.FP = m.kept(s, uint8(m.FP), cfa)
	for _, r := range m.preserved {
		if rule := m.kept(s, r, cfa); rule.Kind != trad.Same {
			rest.Regs = append(rest.Regs, trad.RegRule{Reg: m.dwarf(r), Rule: rule})
		}
	}
	slices.SortFunc(rest.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	row.Others = rest
	if w.kind == wayLeave {
		row.Flags |= trad.Guess
	}
	if s.signed {
		row.Flags |= trad.MangledRA
	}
	return row, true
}

// kept says where the caller's value of register r is.
func (m *Machine) kept(s *state, r uint8, cfa value) trad.Rule {
	rule := m.rule(s.regs[r], m.dwarf(r), cfa)
	if s.again>>r&1 != 0 && rule.Kind != trad.Same {
		return trad.Rule{Kind: trad.Undefined}
	}
	return rule
}

// rule says where the caller's value of register r is that the return finds as v.
func (m *Machine) rule(v value, r trad.Reg, cfa value) trad.Rule {
	switch {
	case v.kind == word && v.deref && cfa.deref && v.reg == cfa.reg && v.at == cfa.at:
		return trad.Rule{Kind: trad.Saved, Off: v.add - cfa.add}
	case v.kind != sum || v.deref && v.add != 0:
	case !v.deref && m.dwarf(v.reg) == r && v.add == 0:
		return trad.Rule{Kind: trad.Same}
	case !v.deref:
		return trad.Rule{Kind: trad.InReg, Reg: m.dwarf(v.reg), Off: v.add}
	case !cfa.deref && v.reg == cfa.reg:
		return trad.Rule{Kind: trad.Saved, Off: v.at - cfa.add}
	default:
		return trad.Rule{Kind: trad.SavedAt, Reg: m.dwarf(v.reg), Off: v.at}
	}
	return trad.Rule{Kind: trad.Undefined}
}
