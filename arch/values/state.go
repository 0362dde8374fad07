package values

import "slices"

// maxSlots is how many words of the stack a state remembers.
const maxSlots = 40

const (
	noCall = int32(-1) // no call before this on the straight path
	intact = int32(-1) // the frame is not being torn down
)

// A Slot is a word of the stack, at address At, that holds something worth knowing.
type Slot struct{ At, Val Value }

// A State is what is known before an instruction is executed. It has registers of its own:
// copy makes one like another, an assignment does not.
type State struct {
	m     *Machine
	regs  []Value
	slots []Slot // never changed in place: states share it
	temp  Value  // of Temp
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
}

var nothing = [2]Reg{None, None}

// enter makes s the state at a function's first instruction.
func (s *State) enter(m *Machine, regs []Value) {
	*s = State{m: m, regs: regs, facts: facts{compared: nothing, call: noCall, teardown: intact}}
	for r := range regs {
		regs[r] = OnEntry(Reg(r))
	}
	regs[m.SP] = FromCFA(m.EntrySP)
	if m.pushes() {
		regs[m.RA] = Value{}
		s.slots = []Slot{{FromCFA(m.Pushed), OnEntry(m.RA)}}
	}
}

// copy makes s a state like t, of the same machine.
func (s *State) copy(t *State) {
	copy(s.regs, t.regs)
	s.slots, s.facts = t.slots, t.facts
}

// Reg returns what a register holds.
func (s *State) Reg(r Reg) Value {
	switch {
	case int(r) < len(s.regs):
		return s.regs[r]
	case r == Temp:
		return s.temp
	}
	return Value{}
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
	case int(r) >= len(s.regs):
		return
	case r != s.m.SP:
		s.regs[r] = v
		return
	}
	if !v.onStack() {
		v = Value{base: fresh + at}
		s.forget(v.base)
	}
	// What is below the stack pointer now is dead.
	if v.base != s.regs[r].base || v.off > s.regs[r].off {
		s.drop(func(x Slot) bool { return x.At.base == v.base && x.At.off < v.off })
	}
	s.regs[r] = v
}

// forget drops what is known relative to an earlier stack pointer of that name.
func (s *State) forget(base int32) {
	for r := range s.regs {
		if s.regs[r].base == base {
			s.regs[r] = Value{}
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
	return width == size && (v.base == cfa || v.isEntry(s.m.wanted()))
}

// store notes a write of width bytes at an address. Where the address is not known the
// slots stay: compiled code does not overwrite them that way.
func (s *State) store(at Value, width uint16, v Value) {
	if !at.onStack() {
		return
	}
	hit := func(x Slot) bool {
		return x.At.base == at.base && int64(x.At.off) < int64(at.off)+int64(width) && int64(at.off) < int64(x.At.off)+size
	}
	keep := s.worth(v, width)
	if !keep && !slices.ContainsFunc(s.slots, hit) {
		return
	}
	next := slices.DeleteFunc(slices.Clone(s.slots), hit)
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
	e := OnEntry(r)
	for q := range s.regs {
		if Reg(q) != r && s.regs[q] == e {
			return true
		}
	}
	return false
}
