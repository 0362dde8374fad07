package ahead

import "github.com/sfwalk/sfwalk/arch/dataflow"

// A stepper executes instructions of code on the way out.
type stepper struct {
	*dataflow.Machine
	*state
	ops  []dataflow.Op // room for the micro-operations of an instruction
	temp value         // of dataflow.Temp
}

func (m *Machine) stepper() *stepper {
	return &stepper{Machine: m.Machine, ops: make([]dataflow.Op, 0, 32)}
}

// step executes the instruction at an offset of code, and says where control goes.
func (x *stepper) step(code []byte, at int32, s *state) way {
	var in dataflow.Inst
	in, x.ops = x.Decode(code, int(at), x.ops[:0])
	w := way{next: at + int32(in.Len), target: in.Within(code)}
	number := -1
	if n, ok := s.reg(uint8(x.SystemCall)).Number(); ok {
		number = int(n)
	}
	if x.EndsThread(code[at:], number) {
		w.kind, w.cfa = wayEnd, live(uint8(x.SP)).Plus(-x.EntrySP)
		return w
	}
	s.kill(uint64(in.Kill))
	if in.Flow != dataflow.BranchNE {
		s.compared = value{}
	}
	x.state = s
	for i := range x.ops {
		o := &x.ops[i]
		dataflow.Execute((*domain)(x), o)
		s.undone = s.undone || x.undoes(o)
	}
	x.flow(&w, &in, s)
	if in.Flow == dataflow.BranchNE {
		w.equal, w.sp = s.compared, uint8(x.SP)
		s.compared = value{}
	}
	return w
}

// flow says in w where control goes from an instruction that has been executed.
func (x *stepper) flow(w *way, in *dataflow.Inst, s *state) {
	cfa := s.reg(uint8(x.SP)).Plus(-x.EntrySP)
	out := func(kind wayKind, link dataflow.Reg) {
		if w.kind, w.cfa = kind, cfa; x.Pushed == 0 {
			w.link = s.reg(uint8(link))
		}
	}
	switch {
	case in.Flow == dataflow.Next:
	case in.Flow == dataflow.Call:
		w.kind = wayCall
		if x.Pushed == 0 {
			s.kill(uint64(x.RA.Bit()))
		}
	case in.Flow == dataflow.Branch || in.Flow == dataflow.BranchNE:
		w.kind = wayBranch
	case in.Flow == dataflow.Jump && w.target >= 0:
		w.kind = wayJump
	case in.Flow == dataflow.To && in.Return:
		out(wayReturn, in.By)
	case in.Flow == dataflow.MaybeTo && in.Return:
		out(wayMaybe, in.By)
	case in.Flow == dataflow.MaybeTo:
	case in.Flow == dataflow.Jump:
		out(wayLeave, x.RA)
		w.away = in.Target
	case in.Flow == dataflow.Away && x.Pushed != 0 && s.undone && s.kept(s.reg(uint8(in.By))): // popped before: another way to return
		w.kind, w.cfa, w.link = wayReturn, cfa.Plus(x.Pushed), s.reg(uint8(in.By))
	case s.undone && (in.Flow == dataflow.To || in.Flow == dataflow.Away):
		out(wayLeave, x.RA)
	default:
		w.kind = wayStop
	}
}

// A domain is the abstract domain of the code on the way out: a stepper that executes an
// instruction.
type domain stepper

// Reg implements dataflow.Domain.
func (x *domain) Reg(r dataflow.Reg) value {
	if r == dataflow.Temp {
		return x.temp
	}
	return x.state.reg(uint8(r))
}

// Set implements dataflow.Domain.
func (x *domain) Set(r dataflow.Reg, v value) {
	if r == dataflow.Temp {
		x.temp = v
	}
	x.state.set(uint8(r), v)
}

// Constant implements dataflow.Domain.
func (x *domain) Constant(n int32) value { return number(n) }

// Round implements dataflow.Domain. What comes out is not known.
func (x *domain) Round(*dataflow.Op, value) value { return value{} }

// Load implements dataflow.Domain.
func (x *domain) Load(o *dataflow.Op, at value) value {
	if o.Width != x.Word {
		return value{}
	}
	return x.state.load(at)
}

// Store implements dataflow.Domain.
func (x *domain) Store(o *dataflow.Op, at, v value) {
	ofStack := v.kind == sum && !v.deref && v.reg == uint8(x.SP)
	inFrame := at.kind == sum && !at.deref && x.state.frame>>at.reg&1 != 0
	x.state.left = x.state.left || ofStack && !inFrame
	x.state.store(at, int32(o.Width), v)
}

// Compare implements dataflow.Domain. It keeps what the stack pointer is compared with.
func (x *domain) Compare(o *dataflow.Op) {
	x.compared = value{}
	switch x.SP {
	case o.Dst:
		x.compared = x.Reg(o.Src)
	case o.Src:
		x.compared = x.Reg(o.Dst)
	}
}

// Sign implements dataflow.Domain.
func (x *domain) Sign() { x.signed = !x.signed }

// undoes reports whether a micro-operation takes some of the frame down. Where code moves the stack
// pointer in the body, too, it may move to another stack by any register.
func (x *stepper) undoes(o *dataflow.Op) bool {
	switch {
	case o.Dst != x.SP:
		return false
	case o.Kind == dataflow.Load:
		return x.Unloaded.Has(o.Dst)
	case o.Kind != dataflow.Sum || o.Index != dataflow.None || o.Base == dataflow.None:
		return false
	case o.Base == x.SP:
		return o.Imm > 0
	}
	return o.Base == x.FP || o.Imm != 0 || !x.Moving
}
