package perl

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/trad"
)

// state is what an interpreter does at a moment.
type state struct {
	op, cop uint64 // that run; 0 for none
	info    uint64 // the innermost PERL_SI
	top     uint64 // the last value on Perl's stack
}

// reader reads the structures of one moment.
type reader struct {
	*structs.Reader
	*layout
}

// mostEnvs bounds the JMPENVs of one interpreter.
const mostEnvs = 1 << 16

// mostContexts bounds the contexts of one PERL_SI.
const mostContexts = 1 << 20

// state returns the state of the interpreter that runs in a stack. ok is false if none does.
func (r *runtime) state(m reader, s *language.Stack) (st state, ok bool) {
	at := r.variables
	if at[curStackInfo] == 0 {
		interpreter, ok := r.interpreter(m, s)
		if !ok {
			return state{}, false
		}
		at = r.fieldsOf(interpreter)
	} else if !r.runsIn(m, s, at[topEnv], at[startEnv]) {
		return state{}, false
	}
	st = state{op: m.Pointer(at[curOp]), cop: m.Pointer(at[curCop]), info: m.Pointer(at[curStackInfo]), top: m.Pointer(at[stackTop])}
	return st, m.Err() == nil && st.info != 0
}

// fieldsOf returns the addresses of the variables of an interpreter.
func (r *runtime) fieldsOf(interpreter uint64) [variables]uint64 {
	l := r.layout
	return [variables]uint64{stackTop: interpreter + l.StackTop, curOp: interpreter + l.Op, curCop: interpreter + l.CurCop, curStackInfo: interpreter + l.StackInfo, topEnv: interpreter + l.TopEnv, startEnv: interpreter + l.StartEnv}
}

// runsIn reports whether the JMPENVs of an interpreter lead to its first one, and the innermost is
// on this stack.
func (r *runtime) runsIn(m reader, s *language.Stack, top, start uint64) bool {
	env := m.Pointer(top)
	if env != start && !onStack(s, env) {
		return false
	}
	for range mostEnvs {
		if m.Err() != nil {
			return false
		}
		if env == start {
			return m.Pointer(env+m.EnvPrev) == 0 && m.Err() == nil
		}
		env = m.Pointer(env + m.EnvPrev)
	}
	return false
}

// interpreter returns the interpreter that runs in a stack of a perl with threads. Functions of
// perl have its address in a register. First are asked the run loops, which have no other such
// address.
func (r *runtime) interpreter(m reader, s *language.Stack) (interpreter uint64, ok bool) {
	seen := map[uint64]bool{}
	for _, loopsAlone := range []bool{true, false} {
		for _, f := range s.Frames {
			pc := f.AddressInBlock()
			if f.Type() != frame.Normal || pc < r.module.Lo() || pc >= r.module.Hi() || loopsAlone && !r.inLoop(pc) {
				continue
			}
			for reg := range trad.Reg(len(s.Arch.Regs)) {
				if !s.Arch.CalleeSaved.Has(reg) || reg == s.Arch.SP {
					continue
				}
				v := f.Register(reg)
				if !v.Known() || v.Bits < 1<<12 || v.Bits%8 != 0 || seen[v.Bits] {
					continue
				}
				seen[v.Bits] = true
				at := r.fieldsOf(v.Bits)
				if r.runsIn(m, s, at[topEnv], at[startEnv]) {
					return v.Bits, true
				}
			}
		}
		if len(seen) > mostCandidates {
			break
		}
	}
	return 0, false
}

// mostCandidates bounds the values that are looked at as addresses of an interpreter.
const mostCandidates = 1 << 10

// onStack reports whether an address is on the stack.
func onStack(s *language.Stack, addr uint64) bool {
	if len(s.Frames) == 0 {
		return false
	}
	sp := s.Frames[0].Register(s.Arch.SP)
	cfa, ok := s.Frames[len(s.Frames)-1].CFA()
	for i := len(s.Frames) - 2; !ok && i >= 0; i-- { // the outermost one need not have a CFA
		cfa, ok = s.Frames[i].CFA()
	}
	return ok && sp.Known() && addr >= sp.Bits && addr < cfa
}
