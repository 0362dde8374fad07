package ahead

import "github.com/sfwalk/sfwalk/arch/values"

// A stepper executes instructions of code on the way out.
type stepper struct {
	*values.Machine
	ops  []values.Op // room for the micro-operations of an instruction
	temp value       // of values.Temp
}

func (m *Machine) stepper() *stepper {
	return &stepper{Machine: m.Machine, ops: make([]values.Op, 0, 32)}
}

// step executes the instruction at an offset of code, and says where control goes.
func (x *stepper) step(code []byte, at int32, s *state) way {
	var in values.Inst
	in, x.ops = x.Decode(code, int(at), x.ops[:0])
	w := way{next: at + int32(in.Len), target: in.Within(code)}
	number := -1
	if n, ok := s.reg(uint8(x.SystemCall)).number(); ok {
		number = int(n)
	}
	if x.EndsThread(code[at:], number) {
		w.kind, w.cfa = wayEnd, live(uint8(x.SP)).plus(-x.EntrySP)
		return w
	}
	s.kill(uint64(in.Kill))
	compared := s.compared
	s.compared = value{}
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
		w.equal, w.sp = compared, uint8(x.SP)
	}
	return w
}

// flow says in w where control goes from an instruction that has been executed.
func (x *stepper) flow(w *way, in *values.Inst, s *state) {
	cfa := s.reg(uint8(x.SP)).plus(-x.EntrySP)
	out := func(kind wayKind, link values.Reg) {
		if w.kind, w.cfa = kind, cfa; x.Pushed == 0 {
			w.link = s.reg(uint8(link))
		}
	}
	switch {
	case in.Flow == values.Next:
	case in.Flow == values.Call:
		w.kind = wayCall
		if x.Pushed == 0 {
			s.kill(uint64(x.RA.Bit()))
		}
	case in.Flow == values.Branch || in.Flow == values.BranchNE:
		w.kind = wayBranch
	case in.Flow == values.Jump && w.target >= 0:
		w.kind = wayJump
	case in.Flow == values.To && in.Return:
		out(wayReturn, in.By)
	case in.Flow == values.MaybeTo && in.Return:
		out(wayMaybe, in.By)
	case in.Flow == values.MaybeTo:
	case in.Flow == values.Jump:
		out(wayLeave, x.RA)
		w.away = in.Target
	case in.Flow == values.Away && x.Pushed != 0 && s.undone && s.kept(s.reg(uint8(in.By))): // popped before: another way to return
		w.kind, w.cfa, w.link = wayReturn, cfa.plus(x.Pushed), s.reg(uint8(in.By))
	case s.undone && (in.Flow == values.To || in.Flow == values.Away):
		out(wayLeave, x.RA)
	default:
		w.kind = wayStop
	}
}

// withSP returns what a Compare compares the stack pointer with.
func (x *stepper) withSP(s *state, o *values.Op) value {
	switch x.SP {
	case o.Dst:
		return s.reg(uint8(o.Src))
	case o.Src:
		return s.reg(uint8(o.Dst))
	}
	return value{}
}

// do executes a micro-operation.
func (x *stepper) do(o *values.Op, s *state) {
	switch o.Kind {
	case values.Sum:
		v := number(o.Imm)
		if o.Base != values.None {
			v = x.address(o, s)
		}
		x.set(o.Dst, v, s)
		s.undone = s.undone || x.undoes(o)
	case values.Minus:
		x.set(o.Dst, x.get(o.Base, s).minus(x.get(o.Index, s)), s)
	case values.Insert:
		v := value{}
		if old, ok := x.get(o.Dst, s).number(); ok {
			if n, ok := o.Insert(old); ok {
				v = number(n)
			}
		}
		x.set(o.Dst, v, s)
	case values.Round:
		x.set(o.Dst, value{}, s)
	case values.Load:
		v := value{}
		if o.Width == 8 {
			v = s.load(x.address(o, s))
		}
		x.set(o.Dst, v, s)
		s.undone = s.undone || o.Dst == x.SP && x.Unloaded.Has(o.Dst)
	case values.Store:
		s.store(x.address(o, s), int32(o.Width), x.get(o.Src, s))
	case values.Sign:
		s.signed = !s.signed
	}
}

// address is that of a Load or Store, or what a Sum gives.
func (x *stepper) address(o *values.Op, s *state) value {
	v := x.get(o.Base, s)
	if o.Index != values.None {
		v = v.sum(x.get(o.Index, s))
	}
	return v.plus(o.Imm)
}

// get returns what a register holds, or what the instruction has put aside.
func (x *stepper) get(r values.Reg, s *state) value {
	if r == values.Temp {
		return x.temp
	}
	return s.reg(uint8(r))
}

// set gives a register a value.
func (x *stepper) set(r values.Reg, v value, s *state) {
	if r == values.Temp {
		x.temp = v
	}
	s.set(uint8(r), v)
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
