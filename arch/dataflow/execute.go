package dataflow

// maxVector is the width of the widest register, bytes: what stores more fills memory.
const maxVector = 64

// execute executes one instruction, at offset at of the code, up to where control goes two
// ways. again says that it saves a register a second time, when the register does not hold
// the caller's value any more: no function does that.
func (s *State) execute(in *Inst, ops []Op, at int32) (again bool) {
	s.begin(in, at)
	restores := false
	for i := range ops {
		restores = restores || s.restores(&ops[i])
		again = s.do(&ops[i], at) || again
	}
	switch {
	case !restores && !in.harmless:
		s.teardown = intact
	case restores && s.teardown == intact:
		s.teardown = at
	}
	return again
}

// begin does what comes before an instruction's micro-operations.
func (s *State) begin(in *Inst, at int32) {
	s.temp = Value{}
	if !in.Nop {
		s.justCall = false
	}
	if in.Flow != Branch && in.Flow != BranchNE {
		s.compared = nothing
	}
	others := in.Kill &^ s.m.SP.Bit()
	s.same &^= others
	s.known &^= others
	if others != in.Kill {
		s.Set(s.m.SP, Value{}, at)
	}
}

// do executes a micro-operation; again is as execute's.
func (s *State) do(o *Op, at int32) (again bool) {
	s.at, s.again = at, false
	Execute((*domain)(s), o)
	return s.again
}

// A domain is the abstract domain of the prologue values: a State that executes an instruction.
type domain State

// Reg implements Domain.
func (d *domain) Reg(r Reg) Value { return (*State)(d).Reg(r) }

// Set implements Domain.
func (d *domain) Set(r Reg, v Value) { (*State)(d).Set(r, v, d.at) }

// Constant implements Domain.
func (d *domain) Constant(n int32) Value { return Value{constant, n} }

// Round implements Domain. What comes out is not known.
func (d *domain) Round(o *Op, v Value) Value {
	if o.Dst == d.m.SP {
		d.rounded = rounding{}
		if from, ok := v.Distance(); ok && o.Base == d.m.SP {
			d.rounded = rounding{d.at, from, o.Imm}
		}
	}
	return Value{}
}

// Load implements Domain.
func (d *domain) Load(o *Op, at Value) Value {
	if o.Width != d.m.Word {
		return Value{}
	}
	return (*State)(d).Load(at)
}

// Store implements Domain.
func (d *domain) Store(o *Op, to, v Value) {
	s := (*State)(d)
	s.again = o.Width == s.m.Word && s.m.SavedOnce.Has(o.Src) && v != OnEntry(o.Src) && s.Load(to) == OnEntry(o.Src)
	// Another base may be a pointer that is only at first where it is known to be, in a
	// loop that fills memory; and so may the frame pointer be where many bytes are stored,
	// in code that uses the register for something else.
	if o.Base == s.m.SP || o.Base == s.m.FP && s.keeps(o.Base) && o.Width <= maxVector || s.worth(v, o.Width) {
		s.store(to, o.Width, v)
	}
}

// Compare implements Domain.
func (d *domain) Compare(o *Op) { d.compared = [2]Reg{o.Dst, o.Src} }

// Sign implements Domain.
func (d *domain) Sign() { d.signed = !d.signed }

// sum is what a Sum gives.
func (s *State) sum(o *Op) Value {
	if o.Base == None {
		return Value{constant, o.Imm}
	}
	return s.address(o)
}

// address returns the address of a Load or Store.
func (s *State) address(o *Op) Value {
	v := s.Reg(o.Base)
	if o.Index != None {
		v = v.Sum(s.Reg(o.Index))
	}
	return v.Plus(o.Imm)
}

// loaded is what a Load gives.
func (s *State) loaded(o *Op) Value { return (*domain)(s).Load(o, s.address(o)) }

// equal takes in that what was compared last is equal: how a loop ends that touches the
// pages of a large frame.
func (s *State) equal(at int32) {
	sp := s.m.SP
	a, b := s.compared[0], s.compared[1]
	s.compared = nothing
	if b == sp {
		a, b = b, a
	}
	if v := s.Reg(b); a == sp && v.onStack() {
		s.Set(sp, v, at)
	}
}

// called is what a call leaves: the registers that it preserves, and the stack but for
// what it may use of that.
func (s *State) called(at int32) {
	m := s.m
	ra := Value{}
	if !m.pushes() {
		ra = Value{behind, at}
		if _, saved := s.savedAt(m.RA); !saved && m.LinkCopy != None && s.Reg(m.LinkCopy) == OnEntry(m.RA) &&
			s.same.Has(m.RA) && s.Reg(m.SP) == FromCFA(m.EntrySP) {
			ra = OnEntry(m.RA)
		}
	}
	s.same &= m.Preserved
	for left := s.known &^ m.Preserved; left != 0; left &= left - 1 {
		if r := left.first(); !m.Constant.Has(r) || s.regs[r].base != constant {
			s.known &^= r.Bit()
		}
	}
	s.put(m.RA, ra)
	if sp := s.Reg(m.SP); m.SaveArea != 0 {
		s.drop(func(x Slot) bool {
			return x.At.base == sp.base && x.At.off > sp.off && x.At.off < sp.off+m.SaveArea
		})
	}
	s.call, s.justCall = at, true
}

// restores reports whether a micro-operation gives a register its value on entry back, or
// moves the stack pointer up.
func (s *State) restores(o *Op) bool {
	m := s.m
	switch o.Kind {
	case Sum:
		switch {
		case o.Index != None:
		case o.Dst == m.SP && o.Base == m.SP:
			return o.Imm > 0
		case o.Dst == m.SP:
			return o.Base == m.FP || o.Imm != 0 || s.sum(o) == FromCFA(m.EntrySP)
		case m.wanted().Has(o.Dst):
			return s.sum(o) == OnEntry(o.Dst)
		}
	case Load:
		if m.Unloaded.Has(o.Dst) && o.Dst == m.SP {
			return true
		}
		v := s.loaded(o)
		return v.isEntry(o.Dst.Bit()&m.wanted()) || !m.pushes() && v == OnEntry(m.RA)
	case Sign:
		return s.signed
	}
	return false
}
