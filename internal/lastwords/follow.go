package lastwords

import (
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of a call that is followed.
const (
	mostSteps = 256     // instructions
	madeStack = 4 << 10 // bytes
	// madeAbove is how many bytes above the stack pointer a function may write, too: s390x's area
	// to save registers in.
	madeAbove = 160
)

// follower computes what a function would return, without calling it. It executes the function's
// instructions in a domain of constants, on a stack of its own, and reads the process's memory. It
// gives up where an instruction is not wholly known: it branches by a condition, writes other
// memory than the stack, has an effect that the decoder does not describe. It implements
// [dataflow.Domain].
type follower struct {
	constants
	f      *finder
	sp     uint64       // the stack pointer on entry
	thread constant     // the thread pointer; known where storage is
	arg    dataflow.Reg // of the first argument
	result dataflow.Reg
	stack  map[uint64]constant // words of the stack by address
	failed bool
}

// returned returns the pointer that a function would return if it was called with one argument, of
// the size of a pointer. ok is false if that is not certain.
func (f *finder) returned(function, argument uint64) (result uint64, ok bool) {
	machine := dataflow.Of(f.arch)
	where := argumentRegisters(f.arch, 1)
	if machine == nil || where == nil || len(f.Frames) == 0 || f.Frames[0].Registers == nil {
		return 0, false
	}
	pointer := &abi.Type{Kind: abi.Pointer, Size: uint64(f.arch.PtrSize)}
	out, err := f.arch.Calls.ReturnValue(&abi.Func{Result: pointer, Params: []*abi.Type{pointer}})
	if err != nil || len(out.Pieces) != 1 {
		return 0, false
	}
	sp, _ := f.Frames[0].Registers.Get(f.arch.SP)
	const aligned, apart = 256, 1 << 10 // below what the thread's innermost function may have
	if sp = sp&^(aligned-1) - apart; sp < 2*madeStack || sp > ^uint64(0)-2*apart {
		return 0, false
	}
	s := &follower{constants: constants{machine: machine}, f: f, sp: sp, stack: map[uint64]constant{}}
	s.regs[machine.SP] = constant{true, sp}
	s.arg, s.result = s.register(where[0]), s.register(out.Pieces[0].Reg)
	if s.arg == dataflow.None || s.result == dataflow.None {
		return 0, false
	}
	s.regs[s.arg] = constant{true, argument}
	if list := f.arch.ThreadPointer; machine.Pushed != 0 && machine.Word == 8 && len(list) == 1 {
		s.thread.v, s.thread.known = f.Frames[0].Registers.Get(list[0])
	}
	if !s.call(0) || !s.run(function) || s.regs[machine.SP] != (constant{true, sp}) {
		return 0, false
	}
	v := s.regs[s.result]
	return v.v, v.known && !s.made(v.v)
}

// register returns a register by its DWARF number; None if it is not followed.
func (s *follower) register(reg trad.Reg) dataflow.Reg {
	for r := range dataflow.Reg(s.machine.Regs) {
		if s.machine.DWARF(r) == reg {
			return r
		}
	}
	return dataflow.None
}

// call leaves a return address where a call leaves it.
func (s *follower) call(ret uint64) bool {
	m := s.machine
	if m.Pushed == 0 {
		s.regs[m.RA] = constant{true, ret}
		return true
	}
	sp := s.regs[m.SP].Plus(-int32(m.Word))
	s.regs[m.SP] = sp
	s.write(sp, constant{true, ret})
	return !s.failed
}

// run executes instructions from an address on, until the function returns to address 0. ok is
// false if it gives up.
func (s *follower) run(pc uint64) (ok bool) {
	m := s.machine
	var ops []dataflow.Op
	entered := false // by a jump or a call
	for range mostSteps {
		if entered && s.thread.known && s.f.isStorageFunction(pc) {
			v, sp := s.storage(s.regs[s.arg]), s.regs[m.SP]
			for r := range dataflow.Reg(m.Regs) {
				if !m.Preserved.Has(r) {
					s.regs[r] = constant{}
				}
			}
			to := s.read(sp)
			if s.regs[s.result], s.regs[m.SP] = v, sp.Plus(int32(m.Word)); !to.known || to.v == 0 {
				return to.known
			}
			pc, entered = to.v, false
		}
		if s.f.Target.Modules().Find(pc) == nil {
			return false
		}
		code := s.f.part(pc, int(m.MaxLen))
		if len(code) == 0 {
			return false
		}
		var in dataflow.Inst
		in, ops = m.Decode(code, 0, ops[:0])
		if in.Len == 0 || int(in.Len) > len(code) {
			return false
		}
		if in.Flow == dataflow.Next && len(ops) == 0 && !in.Nop {
			return false
		}
		s.lo, s.temp = pc, constant{}
		if s.execute(&in, ops); s.failed {
			return false
		}
		to := constant{}
		entered = in.Flow != dataflow.Next
		switch in.Flow {
		case dataflow.Next:
			to = constant{true, pc + uint64(in.Len)}
		case dataflow.Call, dataflow.Jump:
			if in.Target == dataflow.NoTarget || in.Flow == dataflow.Call && !s.call(pc+uint64(in.Len)) {
				return false
			}
			to = constant{true, pc + uint64(in.Target)}
		case dataflow.To:
			if to = s.Reg(in.By); in.Return && m.Pushed != 0 {
				sp := s.regs[m.SP]
				to, s.regs[m.SP] = s.read(sp), sp.Plus(int32(m.Word))
			}
			if to.known && to.v == 0 {
				return true
			}
		case dataflow.Away:
			if to = s.Reg(in.By); in.By == dataflow.None && s.f.arch.StubSlot != nil {
				if slot, _, stub := s.f.arch.StubSlot(code, pc, 0); stub {
					if to = s.read(constant{true, slot}); to.known && s.thread.known {
						to.v = s.f.bound(pc, slot, to.v)
					}
				}
			}
		}
		if !to.known {
			return false
		}
		pc = s.f.arch.Wrap(to.v)
	}
	return false
}

// execute executes one instruction, but does not say where control goes.
func (s *follower) execute(in *dataflow.Inst, ops []dataflow.Op) {
	s.pc = s.lo
	for r := range dataflow.Reg(s.machine.Regs) {
		if in.Kill.Has(r) {
			s.regs[r] = constant{}
		}
	}
	for i := range ops {
		dataflow.Execute(s, &ops[i])
	}
}

// Reg returns what a register holds.
func (s *follower) Reg(r dataflow.Reg) constant {
	if r == dataflow.Thread {
		return s.thread
	}
	return s.constants.Reg(r)
}

// made reports whether an address is on the stack that the follower has made.
func (s *follower) made(at uint64) bool { return at-(s.sp-madeStack) < madeStack+madeAbove }

// read returns a word.
func (s *follower) read(at constant) constant {
	if !at.known {
		return constant{}
	}
	if s.made(at.v) {
		return s.stack[at.v]
	}
	v, ok := s.f.word(s.f.arch.Wrap(at.v))
	return constant{ok, v}
}

// write changes a word of the stack.
func (s *follower) write(at, v constant) {
	word := uint64(s.machine.Word)
	if s.failed = s.failed || !at.known || at.v%word != 0 || !s.made(at.v); !s.failed {
		s.stack[at.v] = v
	}
}

// Load returns a word.
func (s *follower) Load(o *dataflow.Op, at constant) constant {
	if o.Width != s.machine.Word {
		return constant{}
	}
	return s.read(at)
}

// Store changes a word. It fails if something else than a whole word of the stack is written.
func (s *follower) Store(o *dataflow.Op, at, v constant) {
	s.failed = s.failed || o.Width != s.machine.Word
	s.write(at, v)
}
