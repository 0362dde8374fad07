package i386

import "github.com/sfwalk/sfwalk/arch/dataflow"

const (
	maxBehindCall = 64 // instructions that are looked at behind a call
	maxPopped     = 64 // bytes of arguments that a function pops, at most
	stackAlign    = 16 // bytes, of the stack at a call
)

// pops implements dataflow.Machine.Pops. A function that returns a struct pops the address where
// that goes, which the caller has passed; functions of other conventions (stdcall, fastcall) pop
// all arguments. What the code does next tells: the stack pointer must be where it was on entry
// when the code returns, and aligned when it calls again, if it was at this call.
func pops(a *dataflow.Analysis, s *dataflow.State, next int32) int32 {
	sp, ok := s.Reg(esp).Distance()
	if !ok {
		return 0
	}
	aligned, hidden := sp%stackAlign == 0, passesFrame(s, sp)
	popped := int32(0) // by the next call
	for i := range maxBehindCall {
		in, ops := a.Peek(next)
		if i == 0 && hidden && len(ops) == 1 && ops[0] == dataflow.Add(esp, esp, -4) { // what was popped is made up for
			return 4
		}
		switch {
		case in.Flow == dataflow.Call && spares(a, s, next+int32(in.Len)):
		case in.Flow == dataflow.Call && popped != 0:
		case in.Flow == dataflow.Call:
			if popped = -sp & (stackAlign - 1); !aligned || popped != 4 || !hidden {
				return 0
			}
		case in.Return && popped != 0 && sp == pushed:
			return 0 // the stack is not aligned at calls, then
		case in.Return && popped != 0:
			return popped
		case in.Return:
			if n := pushed - sp; n > 0 && n <= maxPopped && n%4 == 0 && n%stackAlign != 0 && aligned || n == 4 && hidden {
				return n
			}
			return 0
		case in.Flow == dataflow.Jump:
			if next = a.Target(next); next < 0 {
				return popped
			}
			continue
		case in.Flow != dataflow.Next && in.Flow != dataflow.Branch && in.Flow != dataflow.BranchNE:
			return popped
		}
		for j := range ops {
			switch o := &ops[j]; {
			case o.Dst != esp || o.Kind == dataflow.Compare:
			case o.Kind == dataflow.Sum && o.Base == esp && o.Index == dataflow.None:
				sp += o.Imm
			default:
				return popped
			}
		}
		if in.Kill.Has(esp) {
			return popped
		}
		next += int32(in.Len)
	}
	return popped
}

// passesFrame reports whether the first argument on the stack is an address in the frame.
func passesFrame(s *dataflow.State, sp int32) bool {
	to, ok := s.Load(dataflow.FromCFA(sp)).Distance()
	return ok && to > sp && to < pushed
}
