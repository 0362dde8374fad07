package dataflow

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of the code that is looked at, in bytes.
const (
	maxBefore = 1 << 20  // from the entry to the pc
	maxBehind = 64 << 10 // from the pc on
)

// ReadFrame implements arch.Arch.ReadFrame.
func (m *Machine) ReadFrame(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return m.read(code, start, pc, false)
}

// ReadReached implements arch.Arch.ReadReached.
func (m *Machine) ReadReached(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return m.read(code, start, pc, true)
}

func (m *Machine) read(code []byte, start, pc uint64, reached bool) (row trad.Row, steps int, why string) {
	off := pc - start
	switch {
	case pc < start || off >= uint64(len(code)):
		return trad.Row{}, 0, "the pc is outside the code"
	case off > maxBefore:
		return trad.Row{}, 0, "the function is too long"
	}
	code = code[:min(uint64(len(code)), off+maxBehind)]
	a := m.Analyse(code, nil, reached)
	row, why = a.Row(start, int32(off))
	return row, a.steps, why
}

// ReadSplit implements arch.Arch.ReadSplit.
func (m *Machine) ReadSplit(code *arch.SplitFunction, pc uint64) (row trad.Row, steps int, why string) {
	off, ok := code.Offset(pc)
	if !ok {
		return trad.Row{}, 0, "the pc is outside the code"
	}
	a := m.Analyse(code.Code, code, false)
	row, why = a.Row(0, off)
	row.Lo = code.Address(int32(row.Lo))
	return row, a.steps, why
}

// Row returns the row for the instruction at offset off, or around it. start is the address of the
// code's first byte. If there is no row, why is a constant sentence that says why not; else it is
// "".
func (a *Analysis) Row(start uint64, off int32) (row trad.Row, why string) {
	return a.row(start, off, (*State).cfaRule)
}

// row is Row with the CFA that a state has by cfaRule.
func (a *Analysis) row(start uint64, off int32, cfaRule func(*State) (trad.Rule, bool)) (row trad.Row, why string) {
	i, ok := a.around(off)
	if !ok {
		return trad.Row{}, "no way through the code leads to the pc"
	}
	s := &a.now
	a.load(s, &a.nodes[i].state)
	row.Lo, row.Len = start+uint64(a.nodes[i].at), uint32(a.nodes[i].in.Len)
	if s.signed {
		row.Flags |= trad.MangledRA
	}
	if s.guess || a.unsound {
		row.Flags |= trad.Guess
	}
	if a.settingUp(s, a.nodes[i].at) || a.tearingDown(s, a.nodes[i].at) {
		row.Flags |= trad.InPrologue
	}
	if row.CFA, ok = cfaRule(s); !ok {
		return trad.Row{}, "the stack pointer's way cannot be followed"
	}
	if row.RA, ok = s.rule(a.m.RA); !ok {
		return trad.Row{}, "the code has overwritten the return address"
	}
	if row.FP, ok = s.rule(a.m.FP); !ok {
		row.FP.Kind = a.m.Lost
	}
	row.Others = s.rest()
	return row, ""
}

// At returns the state before the instruction at offset off, or around it; ok is false where
// no way leads there.
func (a *Analysis) At(off int32) (s *State, ok bool) {
	i, ok := a.around(off)
	if !ok {
		return nil, false
	}
	s = new(State)
	a.load(s, &a.nodes[i].state)
	return s, true
}

// around returns the index of the reached instruction that has offset off in it: the one
// that begins there if any.
func (a *Analysis) around(off int32) (i int32, ok bool) {
	step := a.m.Align
	for at := off - off%step; at >= 0 && off-at < a.m.MaxLen; at -= step {
		i = a.index[at/step] - 1
		if i < 0 || !a.nodes[i].reached {
			continue
		}
		if end := at + int32(a.nodes[i].in.Len); end > off && int(end) <= len(a.code) {
			return i, true
		}
	}
	return 0, false
}

// cfaRule returns the CFA: from the frame pointer, as compilers' tables have it, else from the
// stack pointer, else from a slot that a realigned frame keeps it in, else from another register,
// such as the register up to which a loop touches the stack's pages, or in which the stack pointer
// is saved.
func (s *State) cfaRule() (rule trad.Rule, ok bool) {
	m := s.m
	sp, fp := s.Reg(m.SP), s.Reg(m.FP)
	if fp.base == cfa {
		if m.Chained && s.Load(fp) == OnEntry(m.FP) || !m.Chained && (sp.base != cfa || sp == fp) && s.keeps(m.FP) {
			return trad.Rule{Kind: trad.InReg, Reg: m.DWARF(m.FP), Off: -fp.off}, true
		}
	}
	if sp.base == cfa {
		return trad.Rule{Kind: trad.InReg, Reg: m.DWARF(m.SP), Off: -sp.off}, true
	}
	for i := range s.slots {
		if s.slots[i].Val == FromCFA(0) {
			if reg, off, ok := s.pointerTo(s.slots[i].At); ok {
				return trad.Rule{Kind: trad.SavedAt, Reg: reg, Off: off}, true
			}
		}
	}
	for left := s.known; left != 0; left &= left - 1 {
		if r := left.first(); s.regs[r].base == cfa {
			return trad.Rule{Kind: trad.InReg, Reg: m.DWARF(r), Off: -s.regs[r].off}, true
		}
	}
	return trad.Rule{}, false
}

// pointerTo returns a register at a known distance from a slot of a frame that has no known
// distance from the CFA: the frame pointer, which lasts, sooner than the stack pointer, and
// that sooner than another that a call preserves.
func (s *State) pointerTo(at Value) (r trad.Reg, off int32, ok bool) {
	m := s.m
	for _, r := range [...]Reg{m.FP, m.SP} {
		if v := s.Reg(r); v.base == at.base {
			return m.DWARF(r), at.off - v.off, true
		}
	}
	for left := s.known & m.Preserved; left != 0; left &= left - 1 {
		if r := left.first(); s.regs[r].base == at.base {
			return m.DWARF(r), at.off - s.regs[r].off, true
		}
	}
	return 0, 0, false
}

// rule returns the rule of a register that PREVIOUS wants back.
func (s *State) rule(r Reg) (rule trad.Rule, ok bool) {
	if at, saved := s.savedAt(r); saved {
		if at.base == cfa {
			return trad.Rule{Kind: trad.Saved, Off: at.off}, true
		}
		if reg, off, ok := s.pointerTo(at); ok {
			return trad.Rule{Kind: trad.SavedAt, Reg: reg, Off: off}, true
		}
	}
	if s.same.Has(r) {
		return trad.Rule{Kind: trad.Same}, true
	}
	if in, ok := s.holds(r); ok {
		return trad.Rule{Kind: trad.InReg, Reg: s.m.DWARF(in)}, true
	}
	return trad.Rule{}, false
}

// Unchanged is the OtherRules of a frame that has changed no register, except registers that have
// cells of their own in a row.
var Unchanged = &trad.OtherRules{Default: trad.Same}

// rest returns the rules of the other registers that a call preserves.
func (s *State) rest() *trad.OtherRules {
	var regs []trad.RegRule
	others := s.m.Preserved &^ (s.m.SP.Bit() | s.m.FP.Bit())
	for left := others; left != 0; left &= left - 1 {
		r := left.first()
		rule, ok := s.rule(r)
		if !ok {
			rule.Kind = s.m.Lost
		}
		if rule.Kind != trad.Same {
			regs = append(regs, trad.RegRule{Reg: s.m.DWARF(r), Rule: rule})
		}
	}
	if regs == nil {
		return Unchanged
	}
	return &trad.OtherRules{Regs: regs, Default: trad.Same}
}
