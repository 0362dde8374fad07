package s390x

import (
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// markTeardown notes where a run of instructions begins that take down the stack
// and restore registers. Others that leave the stack alone may stand in between.
func (s *state) markTeardown(o *op, at int32) {
	switch {
	case s.restores(o):
		if s.teardown == intact {
			s.teardown = at
		}
	case !o.harmless():
		s.teardown = intact
	}
}

// restores reports whether an instruction gives a register its entry value back,
// or moves the stack pointer up.
func (s *state) restores(o *op) bool {
	switch o.kind {
	case opMove:
		if v := s.reg(o.src); o.dst == R15 {
			return v == value{cfa, entrySP}
		} else {
			return v.tracks(bit(o.dst) & tracked)
		}
	case opLea:
		return o.dst == R15 && o.src == noReg && (o.base != R15 || o.imm > 0)
	case opLoad:
		v := s.load(s.reg(o.base).plus(o.imm))
		return v.tracks(bit(o.dst)&tracked) || v.tracks(linkBit) || o.dst == R15
	case opLoads:
		from := s.reg(o.base).plus(o.imm)
		for r, i := o.dst, int32(0); ; r, i = (r+1)&15, i+8 {
			if s.load(from.plus(i)).tracks(bit(r) & tracked) {
				return true
			}
			if r == o.last {
				return false
			}
		}
	}
	return false
}

// harmless reports whether an instruction changes no register that PREVIOUS
// wants back, stores nothing, and goes on to the next.
func (o *op) harmless() bool {
	switch o.kind {
	case opOther:
		return o.kill&tracked == 0
	case opMove, opConst, opLea, opLoad, opSub:
		return tracked&bit(o.dst) == 0
	case opCompare:
		return true
	}
	return false
}

// merge makes s true also for a path that arrives with state t, and reports
// whether that changed it.
func (s *state) merge(t *state) (changed bool) {
	for r := range s.regs {
		if s.regs[r] != t.regs[r] && s.regs[r].base != unknown {
			s.regs[r], changed = value{}, true
		}
	}
	lost := func(x slot) bool { return t.load(x.at) != x.val }
	if slices.ContainsFunc(s.slots, lost) {
		s.slots, changed = slices.DeleteFunc(slices.Clone(s.slots), lost), true
	}
	if s.compared != t.compared && s.compared != nothing {
		s.compared, changed = nothing, true
	}
	if s.teardown != t.teardown && s.teardown != intact {
		s.teardown, changed = intact, true
	}
	// A path without the call confirms what the call's return told; of two calls
	// the first is the one that both paths depend on.
	if s.call > t.call {
		s.call, changed = t.call, true
	}
	if s.justCall && (!t.justCall || s.call != t.call) {
		s.justCall, changed = false, true
	}
	return changed
}

// contradicts reports whether no compiler's frame can be in both states at one
// instruction: one of the two paths is never taken. The stack must be equally
// deep, and what PREVIOUS wants back must be in the same place.
func (s *state) contradicts(t *state) bool {
	a, b := s.regs[R15], t.regs[R15]
	if a.base == cfa && b.base == cfa && a.off != b.off {
		return true
	}
	for r := R6; r <= R14; r++ {
		if !s.agrees(t, r) {
			return true
		}
	}
	return false
}

// agrees reports whether the entry value of a register is in some place by both
// states, or not known by one of them.
func (s *state) agrees(t *state, r trad.Reg) bool {
	e := entryOf(r)
	if s.regs[r] == e && t.regs[r] == e {
		return true
	}
	inS, inT := false, false
	for _, x := range s.slots {
		if x.val == e {
			if inS = true; t.load(x.at) == e {
				return true
			}
		}
	}
	for q := range s.regs {
		if s.regs[q] == e {
			if inS = true; t.regs[q] == e {
				return true
			}
		}
		inT = inT || t.regs[q] == e
	}
	if !inT {
		_, inT = t.savedAt(r)
	}
	return !inS || !inT
}
