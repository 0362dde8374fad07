package dataflow

import "github.com/sfwalk/sfwalk/trad"

// ReadRounded implements arch.Arch.ReadRounded. The stack pointer is rounded down by the straight
// code that the function begins with; nothing else is analysed.
func (m *Machine) ReadRounded(code []byte, start, pc uint64) (row trad.Row, align uint32, steps int) {
	off := pc - start
	if pc < start || off >= uint64(len(code)) || off > maxBefore {
		return trad.Row{}, 0, 0
	}
	ok, steps := m.rounds(code[:off])
	if !ok {
		return trad.Row{}, 0, steps
	}
	a := m.Analyse(code[:min(uint64(len(code)), off+maxBehind)], nil, true)
	var now State
	mask := int32(0)
	row, why := a.row(start, int32(off), func(s *State) (rule trad.Rule, ok bool) {
		if _, known := s.cfaRule(); known {
			return rule, false
		}
		now.copy(s)
		sp := s.Reg(m.SP)
		mask = s.rounded.mask
		return trad.Rule{Kind: trad.InReg, Reg: m.DWARF(m.SP), Off: -sp.off - s.rounded.from},
			mask != 0 && sp.base == fresh+s.rounded.at
	})
	if steps += a.steps; why != "" {
		return trad.Row{}, 0, steps
	}
	row.FP = now.saved(m.FP)
	row.Others = &trad.OtherRules{Default: trad.Same}
	for left := m.Preserved &^ (m.SP.Bit() | m.FP.Bit()); left != 0; left &= left - 1 {
		r := left.first()
		row.Others.Regs = append(row.Others.Regs, trad.RegRule{Reg: m.DWARF(r), Rule: now.saved(r)})
	}
	return row, uint32(-mask), steps
}

// saved returns the rule of a register that is at a known distance from the CFA. Any other register
// is lost: code that never returns to its caller need not preserve it, and runs code that does not.
func (s *State) saved(r Reg) trad.Rule {
	if rule, ok := s.rule(r); ok && rule.Kind == trad.Saved {
		return rule
	}
	return trad.Rule{Kind: s.m.Lost}
}

// rounds reports whether the straight code at the beginning of a function rounds the stack pointer
// down.
func (m *Machine) rounds(code []byte) (ok bool, steps int) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	for at := 0; at < len(code) && steps < maxPrologue; steps++ {
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		if in.Flow != Next {
			break
		}
		for i := range ops {
			if ops[i].Kind == Round && ops[i].Dst == m.SP {
				return true, steps
			}
		}
		at += int(in.Len)
	}
	return false, steps
}
