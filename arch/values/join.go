package values

// merge makes s true also for a path that arrives with state t, and reports whether that
// changed it.
func (s *State) merge(t *State) (changed bool) {
	for r := range s.regs {
		if s.regs[r] != t.regs[r] && s.regs[r].base != unknown {
			s.regs[r], changed = Value{}, true
		}
	}
	if s.drop(func(x Slot) bool { return t.Load(x.At) != x.Val }) {
		changed = true
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
	// A path without the call confirms what the call's return told; of two calls the first
	// is the one that both paths depend on.
	if s.call > t.call {
		s.call, changed = t.call, true
	}
	if s.justCall && (!t.justCall || s.call != t.call) {
		s.justCall, changed = false, true
	}
	return changed
}

// contradicts reports whether no compiler's frame can be in both states at one instruction:
// one of the two paths is never taken. The stack must be equally deep, and what PREVIOUS
// wants back must be in the same place.
func (s *State) contradicts(t *State) bool {
	a, b := s.regs[s.m.SP], t.regs[s.m.SP]
	if a.base == cfa && b.base == cfa && a.off != b.off {
		return true
	}
	for r, left := Reg(0), s.m.Steady; left != 0; r, left = r+1, left>>1 {
		if left&1 != 0 && !s.agrees(t, r) {
			return true
		}
	}
	return false
}

// agrees reports whether the value on entry of a register is in some place by both states,
// or not known by one of them.
func (s *State) agrees(t *State, r Reg) bool {
	e := OnEntry(r)
	if s.regs[r] == e && t.regs[r] == e {
		return true
	}
	inS, inT := false, false
	for _, x := range s.slots {
		if x.Val == e {
			if inS = true; t.Load(x.At) == e {
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
