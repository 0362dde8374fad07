package ahead

import "github.com/sfwalk/sfwalk/arch/values"

// A stepper executes instructions of code on the way out.
type stepper struct {
	*values.Machine
	ops  []values.Op // room for the micro-operations of an instruction
	temp Value       // of values.Temp
}

func (m *Machine) stepper() *stepper {
	return &stepper{Machine: m.Machine, ops: make([]values.Op, 0, 32)}
}

// step executes the instruction at an offset of code, and says where control goes.
func (x *stepper) step(code []byte, at int32, s *State) Way {
	var in values.Inst
	in, x.ops = x.Decode(code, int(at), x.ops[:0])
	w := Way{Next: at + int32(in.Len), Target: in.Within(code)}
	number := -1
	if n, ok := s.Reg(uint8(x.SystemCall)).Number(); ok {
		number = int(n)
	}
	if x.EndsThread(code[at:], number) {
		w.Kind, w.CFA = End, Live(uint8(x.SP)).Plus(-x.EntrySP)
		return w
	}
	s.Kill(uint64(in.Kill))
	compared := s.compared
	s.compared = Value{}
	for i := range x.ops {
		o := &x.ops[i]
		if o.Kind == values.Compare {
			if compared = x.withSP(s, o); in.Flow != values.BranchNE {
				s.compared = compared
			}
			continue
		}
		x.do(o, s)
	}
	x.flow(&w, &in, s)
	if in.Flow == values.BranchNE {
		w.Equal, w.SP = compared, uint8(x.SP)
	}
	return w
}

// flow says in w where control goes from an instruction that has been executed.
func (x *stepper) flow(w *Way, in *values.Inst, s *State) {
	cfa := s.Reg(uint8(x.SP)).Plus(-x.EntrySP)
	out := func(kind Kind, link values.Reg) {
		if w.Kind, w.CFA = kind, cfa; x.Pushed == 0 {
			w.Link = s.Reg(uint8(link))
		}
	}
	switch {
	case in.Flow == values.Next:
	case in.Flow == values.Call:
		w.Kind = Call
		if x.Pushed == 0 {
			s.Kill(uint64(x.RA.Bit()))
		}
	case in.Flow == values.Branch || in.Flow == values.BranchNE:
		w.Kind = Branch
	case in.Flow == values.Jump && w.Target >= 0:
		w.Kind = Jump
	case in.Flow == values.To && in.Return:
		out(Return, in.By)
	case in.Flow == values.MaybeTo && in.Return:
		out(Maybe, in.By)
	case in.Flow == values.MaybeTo:
	case in.Flow == values.Jump:
		out(Leave, x.RA)
		w.Away = in.Target
	case in.Flow == values.Away && x.Pushed != 0 && s.undone && s.kept(s.Reg(uint8(in.By))): // popped before: another way to return
		w.Kind, w.CFA, w.Link = Return, cfa.Plus(x.Pushed), s.Reg(uint8(in.By))
	case s.undone && (in.Flow == values.To || in.Flow == values.Away):
		out(Leave, x.RA)
	default:
		w.Kind = Stop
	}
}

// withSP returns what a Compare compares the stack pointer with.
func (x *stepper) withSP(s *State, o *values.Op) Value {
	switch x.SP {
	case o.Dst:
		return s.Reg(uint8(o.Src))
	case o.Src:
		return s.Reg(uint8(o.Dst))
	}
	return Value{}
}

// do executes a micro-operation.
func (x *stepper) do(o *values.Op, s *State) {
	switch o.Kind {
	case values.Sum:
		v := Constant(o.Imm)
		if o.Base != values.None {
			v = x.address(o, s)
		}
		x.set(o.Dst, v, s)
		s.undone = s.undone || x.undoes(o)
	case values.Minus:
		x.set(o.Dst, x.get(o.Base, s).Minus(x.get(o.Index, s)), s)
	case values.Insert:
		v := Value{}
		if old, ok := x.get(o.Dst, s).Number(); ok {
			if n, ok := o.Insert(old); ok {
				v = Constant(n)
			}
		}
		x.set(o.Dst, v, s)
	case values.Round:
		x.set(o.Dst, Value{}, s)
	case values.Load:
		v := Value{}
		if o.Width == 8 {
			v = s.Load(x.address(o, s))
		}
		x.set(o.Dst, v, s)
		s.undone = s.undone || o.Dst == x.SP && x.Unloaded.Has(o.Dst)
	case values.Store:
		s.Store(x.address(o, s), int32(o.Width), x.get(o.Src, s))
	case values.Sign:
		s.signed = !s.signed
	}
}

// address is that of a Load or Store, or what a Sum gives.
func (x *stepper) address(o *values.Op, s *State) Value {
	v := x.get(o.Base, s)
	if o.Index != values.None {
		v = v.Sum(x.get(o.Index, s))
	}
	return v.Plus(o.Imm)
}

// get returns what a register holds, or what the instruction has put aside.
func (x *stepper) get(r values.Reg, s *State) Value {
	if r == values.Temp {
		return x.temp
	}
	return s.Reg(uint8(r))
}

// set gives a register a value.
func (x *stepper) set(r values.Reg, v Value, s *State) {
	if r == values.Temp {
		x.temp = v
	}
	s.Set(uint8(r), v)
}

// undoes reports whether a Sum takes some of the frame down. Where code moves the stack pointer in
// the body, too, it may move to another stack by any register.
func (x *stepper) undoes(o *values.Op) bool {
	switch {
	case o.Dst != x.SP || o.Index != values.None || o.Base == values.None:
		return false
	case o.Base == x.SP:
		return o.Imm > 0
	}
	return o.Base == x.FP || o.Imm != 0 || !x.Moving
}
