package arm64

import (
	"slices"
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
		if v := s.reg(o.src); o.dst == rsp {
			return v == value{cfa, entrySP}
		} else {
			return v.tracks(bit(o.dst) & tracked)
		}
	case opLea:
		return o.dst == rsp && o.src == noReg && (o.base != rsp || o.imm > 0)
	case opLoad:
		if o.base == rsp && o.writeback > 0 {
			return true
		}
		if o.width != 8 {
			return false
		}
		from := s.address(o)
		for i, r := range [...]reg{o.dst, o.dst2} {
			if r != noReg && s.load(from.plus(int32(8*i))).tracks(bit(r)&tracked) {
				return true
			}
		}
	case opSign:
		return s.signed
	}
	return false
}

// harmless reports whether an instruction changes no register that PREVIOUS
// wants back, stores nothing, and goes on to the next.
func (o *op) harmless() bool {
	switch o.kind {
	case opOther:
		return o.kill&tracked == 0
	case opMove, opConst, opKeep, opLea, opSub:
		return tracked&bit(o.dst) == 0
	case opLoad:
		return tracked&(bit(o.dst)|bit(o.dst2)) == 0 && (o.writeback == 0 || tracked&bit(o.base) == 0)
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
	if s.signed && !t.signed {
		s.signed, changed = false, true
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
	a, b := s.regs[rsp], t.regs[rsp]
	if a.base == cfa && b.base == cfa && a.off != b.off {
		return true
	}
	for r := reg(19); r <= x30; r++ {
		if !s.agrees(t, r) {
			return true
		}
	}
	return false
}

// agrees reports whether the entry value of a register is in some place by both
// states, or not known by one of them.
func (s *state) agrees(t *state, r reg) bool {
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
