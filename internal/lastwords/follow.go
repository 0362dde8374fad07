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
	dataflow.Constants
	f      *finder
	sp     uint64            // the stack pointer on entry
	thread dataflow.Constant // the thread pointer; known where storage is
	arg    dataflow.Reg      // of the first argument
	result dataflow.Reg
	stack  map[uint64]dataflow.Constant // words of the stack by address
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
	s := &follower{Constants: dataflow.Constants{Machine: machine}, f: f, sp: sp, stack: map[uint64]dataflow.Constant{}}
	s.Regs[machine.SP] = dataflow.Known(sp)
	s.arg, s.result = s.register(where[0]), s.register(out.Pieces[0].Reg)
	if s.arg == dataflow.None || s.result == dataflow.None {
		return 0, false
	}
	s.Regs[s.arg] = dataflow.Known(argument)
	if list := f.arch.ThreadPointer; machine.Pushed != 0 && machine.Word == 8 && len(list) == 1 {
		s.thread.Value, s.thread.Known = f.Frames[0].Registers.Get(list[0])
	}
	if !s.call(0) || !s.run(function) || s.Regs[machine.SP] != dataflow.Known(sp) {
		return 0, false
	}
	v := s.Regs[s.result]
	return v.Value, v.Known && !s.made(v.Value)
}

// register returns a register by its DWARF number; None if it is not followed.
func (s *follower) register(reg trad.Reg) dataflow.Reg {
	for r := range dataflow.Reg(s.Machine.Regs) {
		if s.Machine.DWARF(r) == reg {
			return r
		}
	}
	return dataflow.None
}

// call leaves a return address where a call leaves it.
func (s *follower) call(ret uint64) bool {
	m := s.Machine
	if m.Pushed == 0 {
		s.Regs[m.RA] = dataflow.Known(ret)
		return true
	}
	sp := s.Regs[m.SP].Plus(-int32(m.Word))
	s.Regs[m.SP] = sp
	s.write(sp, dataflow.Known(ret))
	return !s.failed
}

// run executes instructions from an address on, until the function returns to address 0. ok is
// false if it gives up.
func (s *follower) run(pc uint64) (ok bool) {
	m := s.Machine
	var ops []dataflow.Op
	entered := false // by a jump or a call
	for range mostSteps {
		if entered && s.thread.Known && s.f.isStorageFunction(pc) {
			v, sp := s.storage(s.Regs[s.arg]), s.Regs[m.SP]
			for r := range dataflow.Reg(m.Regs) {
				if !m.Preserved.Has(r) {
					s.Regs[r] = dataflow.Constant{}
				}
			}
			to := s.read(sp)
			if s.Regs[s.result], s.Regs[m.SP] = v, sp.Plus(int32(m.Word)); !to.Known || to.Value == 0 {
				return to.Known
			}
			pc, entered = to.Value, false
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
		if s.execute(pc, &in, ops); s.failed {
			return false
		}
		to := dataflow.Constant{}
		entered = in.Flow != dataflow.Next
		switch in.Flow {
		case dataflow.Next:
			to = dataflow.Known(pc + uint64(in.Len))
		case dataflow.Call, dataflow.Jump:
			if in.Target == dataflow.NoTarget || in.Flow == dataflow.Call && !s.call(pc+uint64(in.Len)) {
				return false
			}
			to = dataflow.Known(pc + uint64(in.Target))
		case dataflow.To:
			if to = s.Reg(in.By); in.Return && m.Pushed != 0 {
				sp := s.Regs[m.SP]
				to, s.Regs[m.SP] = s.read(sp), sp.Plus(int32(m.Word))
			}
			if to.Known && to.Value == 0 {
				return true
			}
		case dataflow.Away:
			if to = s.Reg(in.By); in.By == dataflow.None && s.f.arch.StubSlot != nil {
				if slot, _, stub := s.f.arch.StubSlot(code, pc, 0); stub {
					if to = s.read(dataflow.Known(slot)); to.Known && s.thread.Known {
						to.Value = s.f.bound(pc, slot, to.Value)
					}
				}
			}
		}
		if !to.Known {
			return false
		}
		pc = s.f.arch.Wrap(to.Value)
	}
	return false
}

// execute executes the instruction at pc, but does not say where control goes.
func (s *follower) execute(pc uint64, in *dataflow.Inst, ops []dataflow.Op) {
	s.Begin(in, pc)
	for i := range ops {
		dataflow.Execute(s, &ops[i])
	}
}

// Reg returns what a register holds.
func (s *follower) Reg(r dataflow.Reg) dataflow.Constant {
	if r == dataflow.Thread {
		return s.thread
	}
	return s.Constants.Reg(r)
}

// made reports whether an address is on the stack that the follower has made.
func (s *follower) made(at uint64) bool { return at-(s.sp-madeStack) < madeStack+madeAbove }

// read returns a word.
func (s *follower) read(at dataflow.Constant) dataflow.Constant {
	if !at.Known {
		return dataflow.Constant{}
	}
	if s.made(at.Value) {
		return s.stack[at.Value]
	}
	v, ok := s.f.word(s.f.arch.Wrap(at.Value))
	return dataflow.Constant{Known: ok, Value: v}
}

// write changes a word of the stack.
func (s *follower) write(at, v dataflow.Constant) {
	word := uint64(s.Machine.Word)
	if s.failed = s.failed || !at.Known || at.Value%word != 0 || !s.made(at.Value); !s.failed {
		s.stack[at.Value] = v
	}
}

// Load returns a word.
func (s *follower) Load(o *dataflow.Op, at dataflow.Constant) dataflow.Constant {
	if o.Width != s.Machine.Word {
		return dataflow.Constant{}
	}
	return s.read(at)
}

// Store changes a word. It fails if something else than a whole word of the stack is written.
func (s *follower) Store(o *dataflow.Op, at, v dataflow.Constant) {
	s.failed = s.failed || o.Width != s.Machine.Word
	s.write(at, v)
}
