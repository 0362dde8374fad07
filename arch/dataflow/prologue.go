package dataflow

import "github.com/sfwalk/sfwalk/arch"

// maxPrologue is how many instructions are looked at for the end of a prologue.
const maxPrologue = 64

// SkipPrologue implements arch.Arch.SkipPrologue: the prologue ends behind the last
// instruction, before control can go two ways, that saves a register that PREVIOUS wants
// back, moves the stack pointer for the frame, stores the back chain, or makes the frame
// pointer. A no-operation that the function begins with, for indirect calls to land on,
// counts as well. GDB without line tables stops sooner, behind the frame pointer.
func (m *Machine) SkipPrologue(code []byte, start uint64) uint64 {
	var s State
	s.enter(m)
	at, end := 0, 0
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	for range maxPrologue {
		if at >= len(code) {
			break
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		if in.Flow != Next && (in.Flow != Branch && in.Flow != BranchNE || !m.StackCheck(code, at)) {
			break
		}
		setUp := s.setUp(&in, ops, int32(at)) || in.Nop && at == 0
		if at += int(in.Len); setUp {
			end = at
		}
	}
	return start + uint64(min(end, len(code)))
}

// settingUp reports whether, from state now at an offset, the frame is still being set up
// before control can go two ways.
func (a *Analysis) settingUp(now *State, at int32) bool {
	s := &a.another
	s.copy(now)
	for range maxPrologue {
		in, ops := a.Peek(at)
		if in.Flow != Next {
			return false
		}
		if s.setUp(in, ops, at) {
			return true
		}
		at += int32(in.Len)
	}
	return false
}

// tearingDown reports whether some of the frame is gone in state s at an offset, on the way
// out.
func (a *Analysis) tearingDown(s *State, at int32) bool {
	if s.teardown == intact {
		return false
	}
	_, out := a.m.ReadEpilogue(a.code[at:], 0)
	return out&arch.TearsDown != 0
}

// setUp executes an instruction of a prologue, and reports whether it sets up the frame.
func (s *State) setUp(in *Inst, ops []Op, at int32) (yes bool) {
	s.begin(in, at)
	stored := false
	for i := range ops {
		o := &ops[i]
		yes = yes || s.setsUp(o, stored)
		stored = stored || o.Kind == Store
		s.do(o, at)
	}
	return yes
}

// setsUp reports whether a micro-operation sets up the frame; stored says that its
// instruction has stored something.
func (s *State) setsUp(o *Op, stored bool) bool {
	m, sp := s.m, s.Reg(s.m.SP)
	switch o.Kind {
	case Store:
		to, v := s.address(o), s.Reg(o.Src)
		switch {
		case o.Width != m.Word || !to.onStack():
			return false
		case v.base == cfa: // the back chain; or it is pushed, to find the arguments by
			return m.BackChain && to.base == cfa && to == sp && v.off == m.EntrySP || to.base == sp.base && to.off < sp.off
		}
		return s.worthSaving(v)
	case Sum:
		switch {
		case o.Dst == m.SP:
			return s.lowers(o, stored)
		case o.Index != None:
		case o.Dst == m.FP:
			return o.Base == m.SP && s.keeps(m.FP)
		case o.Dst == m.Arguments && o.Dst != None:
			return o.Base == m.SP && sp == FromCFA(m.EntrySP)
		case m.Floats.Has(o.Dst): // in a leaf
			return o.Base == m.SP || s.worthSaving(s.Reg(o.Base))
		}
	case Minus: // of another number it is the frame's dynamic part
		return o.Dst == m.SP && s.Reg(o.Index).base == constant
	case Round:
		return o.Dst == m.SP
	case Sign:
		return !s.signed && s.same.Has(m.RA) && !s.keeps(m.RA)
	}
	return false
}

// lowers reports whether a Sum makes the stack grow for the frame.
func (s *State) lowers(o *Op, stored bool) bool {
	m, sp := s.m, s.Reg(s.m.SP)
	if o.Base != m.SP { // behind a loop that touches the frame's pages
		v := s.sum(o)
		return o.Base == m.Probed && o.Index == None && v.base == cfa && v.off < m.EntrySP
	}
	n := Value{constant, o.Imm}
	if o.Index != None {
		n = n.Sum(s.Reg(o.Index))
	}
	switch {
	case n.base != constant || n.off >= 0:
		return false
	case m.Moving: // what is pushed is what is stored
		return !stored && (s.onSlot(sp) || s.Reg(m.Probed).base == cfa)
	}
	return true
}

// worthSaving reports whether v is what the caller had in a register that PREVIOUS wants
// back and that is not saved yet; or the return address that a call has pushed, which a
// realigned frame copies.
func (s *State) worthSaving(v Value) bool {
	if !v.isEntry(s.m.wanted()) {
		return false
	}
	r := Reg(v.base - entry)
	return r == s.m.RA && s.m.pushes() || !s.keeps(r)
}

// onSlot reports whether the stack holds nothing yet but what was saved.
func (s *State) onSlot(sp Value) bool {
	for i := range s.slots {
		if s.slots[i].At == sp {
			return true
		}
	}
	return sp.base >= fresh && sp.off == 0
}
