package dataflow

import "slices"

// maxSlots is how many words of the stack a state remembers.
const maxSlots = 40

const (
	noCall = int32(-1) // no call before this on the straight path
	intact = int32(-1) // the frame is not being torn down
)

// A Slot is a word of the stack, at address At, that holds something worth knowing.
type Slot struct{ At, Val Value }

// A State is what is known before an instruction is executed.
type State struct {
	m     *Machine
	same  Set            // registers that hold what they held on entry
	known Set            // registers that hold another known value
	regs  [MaxRegs]Value // those values; the others mean nothing
	slots []Slot         // never changed in place: states share it
	temp  Value          // of Temp
	at    int32          // of the instruction that is executed
	again bool           // it saves a register a second time; see execute
	facts
}

// facts are what a state has beside values.
type facts struct {
	compared [2]Reg // that the last instruction compared
	signed   bool   // the return address has an authentication code
	call     int32  // offset of the call that the straight path came through last, or noCall
	justCall bool   // nothing but no-operations since that call
	teardown int32  // offset of the first of the instructions that tear the frame down, or intact
	guess    bool
	rounded  rounding
}

// A rounding is how the instruction at an offset has rounded the stack pointer down. from is its
// distance from the CFA before. The zero rounding, whose mask is 0, is none.
type rounding struct{ at, from, mask int32 }

var nothing = [2]Reg{None, None}

// enter makes s the state at a function's first instruction.
func (s *State) enter(m *Machine) {
	s.m, s.same, s.known, s.slots = m, 1<<m.Regs-1, 0, nil
	s.facts = facts{compared: nothing, call: noCall, teardown: intact}
	s.put(m.SP, FromCFA(m.EntrySP))
	if m.pushes() {
		s.put(m.RA, Value{})
		s.slots = []Slot{{FromCFA(m.Pushed), OnEntry(m.RA)}}
	}
}

// copy makes s a state like t.
func (s *State) copy(t *State) {
	s.m, s.same, s.known, s.slots, s.facts = t.m, t.same, t.known, t.slots, t.facts
	for left := s.known; left != 0; left &= left - 1 {
		r := left.first()
		s.regs[r] = t.regs[r]
	}
}

// Reg returns what a register holds.
func (s *State) Reg(r Reg) Value {
	switch {
	case s.same.Has(r):
		return OnEntry(r)
	case s.known.Has(r):
		return s.regs[r]
	case r == Temp:
		return s.temp
	}
	return Value{}
}

// put gives a register a value.
func (s *State) put(r Reg, v Value) {
	s.same &^= r.Bit()
	s.known &^= r.Bit()
	switch {
	case v == OnEntry(r):
		s.same |= r.Bit()
	case v.Known():
		s.known |= r.Bit()
		s.regs[r] = v
	}
}

// holds reports whether a register of the machine other than r holds r's value on entry, and
// which is the first of them.
func (s *State) holds(r Reg) (in Reg, ok bool) {
	e := OnEntry(r)
	for left := s.known; left != 0; left &= left - 1 {
		if in = left.first(); s.regs[in] == e {
			return in, true
		}
	}
	return None, false
}

// Guess reports whether the state is a guess.
func (s *State) Guess() bool { return s.guess }

// Slots returns the words of the stack that hold something worth knowing.
func (s *State) Slots() []Slot { return s.slots }

// Set gives a register a value, by the instruction at offset at. A stack pointer that is not
// known gets a name of its own, so that what is stored from there on can be told apart.
func (s *State) Set(r Reg, v Value, at int32) {
	switch {
	case r == Temp:
		s.temp = v
		return
	case int(r) >= s.m.Regs:
		return
	case r != s.m.SP:
		s.put(r, v)
		return
	}
	if !v.onStack() {
		v = Value{base: fresh + at}
		s.forget(v.base)
	}
	// What is below the stack pointer now is dead.
	if sp := s.Reg(r); v.base != sp.base || v.off > sp.off {
		s.drop(func(x Slot) bool { return x.At.base == v.base && x.At.off < v.off })
	}
	s.put(r, v)
}

// forget drops what is known relative to an earlier stack pointer of that name.
func (s *State) forget(base int32) {
	for left := s.known; left != 0; left &= left - 1 {
		if r := left.first(); s.regs[r].base == base {
			s.known &^= r.Bit()
		}
	}
	s.drop(func(x Slot) bool { return x.At.base == base || x.Val.base == base })
}

// drop forgets slots, and reports whether there were any.
func (s *State) drop(is func(x Slot) bool) bool {
	if !slices.ContainsFunc(s.slots, is) {
		return false
	}
	s.slots = slices.DeleteFunc(slices.Clone(s.slots), is)
	return true
}

// Load returns the word at an address of the stack.
func (s *State) Load(at Value) Value {
	for i := range s.slots {
		if s.slots[i].At == at {
			return s.slots[i].Val
		}
	}
	return Value{}
}

// worth reports whether a store of a value and width is to be remembered.
func (s *State) worth(v Value, width uint16) bool {
	return width == s.m.Word && (v.base == cfa || v.isEntry(s.m.wanted()))
}

// store notes a write of width bytes at an address. Where the address is not known the
// slots stay: compiled code does not overwrite them that way.
func (s *State) store(at Value, width uint16, v Value) {
	if !at.onStack() {
		return
	}
	hit := func(x Slot) bool {
		return x.At.base == at.base && int64(x.At.off) < int64(at.off)+int64(width) && int64(at.off) < int64(x.At.off)+int64(s.m.Word)
	}
	keep := s.worth(v, width)
	if !keep && !slices.ContainsFunc(s.slots, hit) {
		return
	}
	next := make([]Slot, 0, len(s.slots)+1)
	for _, x := range s.slots {
		if !hit(x) {
			next = append(next, x)
		}
	}
	if keep && len(next) < maxSlots {
		next = append(next, Slot{at, v})
	}
	s.slots = next
}

// savedAt returns the address of the slot that has a register's value on entry: the one at
// a known distance from the CFA if there are two.
func (s *State) savedAt(r Reg) (at Value, ok bool) {
	for _, x := range s.slots {
		if x.Val == OnEntry(r) && (!ok || x.At.base == cfa && at.base != cfa) {
			at, ok = x.At, true
		}
	}
	return at, ok
}

// keeps reports whether a register's value on entry is in a slot or in another register.
func (s *State) keeps(r Reg) bool {
	if _, saved := s.savedAt(r); saved {
		return true
	}
	_, held := s.holds(r)
	return held
}
