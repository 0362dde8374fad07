package dataflow

import (
	"math/bits"
	"slices"
)

// packed is a State as it is kept: only the values that differ from the values on entry.
type packed struct {
	same, known Set
	vals        []Value // of the registers in known, ascending
	slots       []Slot
	facts
}

// store makes k keep a state.
func (a *Analysis) store(k *packed, s *State) {
	n := bits.OnesCount64(uint64(s.known))
	if cap(k.vals) < n {
		k.vals = a.room(n)
	}
	k.same, k.known, k.vals, k.slots, k.facts = s.same, s.known, k.vals[:n], s.slots, s.facts
	for i, left := 0, s.known; left != 0; i, left = i+1, left&(left-1) {
		k.vals[i] = s.regs[left.first()]
	}
}

// room returns room for n values.
func (a *Analysis) room(n int) []Value {
	if len(a.pool) < n {
		a.pool = make([]Value, max(n, 256, len(a.nodes)))
	}
	vals := a.pool[:n:n]
	a.pool = a.pool[n:]
	return vals
}

// load makes s the state that k keeps.
func (a *Analysis) load(s *State, k *packed) {
	s.m, s.same, s.known, s.slots, s.facts = a.m, k.same, k.known, k.slots, k.facts
	for i, left := 0, k.known; left != 0; i, left = i+1, left&(left-1) {
		s.regs[left.first()] = k.vals[i]
	}
}

// reg returns what a register holds.
func (k *packed) reg(r Reg) Value {
	switch {
	case k.same.Has(r):
		return OnEntry(r)
	case k.known.Has(r):
		return k.vals[bits.OnesCount64(uint64(k.known&(r.Bit()-1)))]
	}
	return Value{}
}

// loses reports whether s, on another path, knows less of registers and the stack.
func (k *packed) loses(s *State) bool {
	if k.same&^s.same != 0 {
		return true
	}
	for i, left := 0, k.known; left != 0; i, left = i+1, left&(left-1) {
		if r := left.first(); !s.known.Has(r) || s.regs[r] != k.vals[i] {
			return true
		}
	}
	return !s.has(k.slots)
}

// has reports whether the stack has all of some slots.
func (s *State) has(slots []Slot) bool {
	if len(slots) == 0 || len(slots) == len(s.slots) && &slots[0] == &s.slots[0] {
		return true
	}
	for _, x := range slots {
		if s.Load(x.At) != x.Val {
			return false
		}
	}
	return true
}

// merge makes k true also for a path that arrives with state s, and reports whether that
// changed it.
func (k *packed) merge(s *State) (changed bool) {
	if k.loses(s) {
		changed = true
		k.meet(s)
	}
	if k.compared != s.compared && k.compared != nothing {
		k.compared, changed = nothing, true
	}
	if k.signed && !s.signed {
		k.signed, changed = false, true
	}
	if k.teardown != s.teardown && k.teardown != intact {
		later := intact
		if s.m.Moving && s.teardown != intact { // ways that have popped arguments meet, and go on taking down
			later = max(k.teardown, s.teardown)
		}
		k.teardown, changed = later, changed || later != k.teardown
	}
	if k.rounded != s.rounded && k.rounded != (rounding{}) {
		k.rounded, changed = rounding{}, true
	}
	// A path without the call confirms what the call's return told; of two calls the first
	// is the one that both paths depend on.
	if k.call > s.call {
		k.call, changed = s.call, true
	}
	if k.justCall && (!s.justCall || k.call != s.call) {
		k.justCall, changed = false, true
	}
	return changed
}

// meet drops of registers and slots what s does not know as well.
func (k *packed) meet(s *State) {
	k.same &= s.same
	vals := k.vals[:0]
	for i, left := 0, k.known; left != 0; i, left = i+1, left&(left-1) {
		if r := left.first(); s.known.Has(r) && s.regs[r] == k.vals[i] {
			vals = append(vals, k.vals[i])
		} else {
			k.known &^= r.Bit()
		}
	}
	k.vals = vals
	if !s.has(k.slots) {
		k.slots = slices.DeleteFunc(slices.Clone(k.slots), func(x Slot) bool { return s.Load(x.At) != x.Val })
	}
}

// contradicts reports whether no compiler's frame can be in both states at one instruction:
// one of the two paths is never taken. The stack must be equally deep, and what PREVIOUS
// wants back must be in the same place.
func (k *packed) contradicts(s *State) bool {
	a, b := k.reg(s.m.SP), s.Reg(s.m.SP)
	if a.base == cfa && b.base == cfa && a.off != b.off {
		return true
	}
	for left := s.m.Steady &^ (k.same & s.same); left != 0; left &= left - 1 {
		if !k.agrees(s, left.first()) {
			return true
		}
	}
	return false
}

// deeper reports whether the stack is deeper than in s, where code moves the stack pointer in the
// body: a call that does not return leaves its arguments there.
func (k *packed) deeper(s *State) bool {
	a, b := k.reg(s.m.SP), s.Reg(s.m.SP)
	return s.m.Moving && a.base == cfa && b.base == cfa && a.off < b.off
}

// agrees reports whether the value on entry of a register is in some place by both states,
// or not known by one of them. It is not in the register itself by both.
func (k *packed) agrees(s *State, r Reg) bool {
	e := OnEntry(r)
	here := k.same.Has(r)
	for _, x := range k.slots {
		if x.Val == e {
			if here = true; s.Load(x.At) == e {
				return true
			}
		}
	}
	for i, left := 0, k.known; left != 0; i, left = i+1, left&(left-1) {
		if k.vals[i] == e {
			if here = true; s.Reg(left.first()) == e {
				return true
			}
		}
	}
	return !here || !s.same.Has(r) && !s.keeps(r)
}
