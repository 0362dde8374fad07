package lua

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/trad"
)

// reader reads the structures of one moment.
type reader struct {
	*structs.Reader
	*layout
}

// state is a lua_State that runs in a stack: the main one, or a coroutine.
type state struct {
	at     uint64
	global uint64
	jump   uint64 // the outermost address to which its errors jump, on the C stack; 0 for none
}

const (
	mostCandidates = 1 << 14 // values that are looked at as addresses of states
	mostWords      = 64      // words of a frame's part of the stack that are looked at
	mostJumps      = 1 << 12 // of one state
)

// states returns the states that run in a stack, the innermost first. Their addresses are in
// registers and on the stack of Lua's functions.
func (r *runtime) states(m reader, s *language.Stack) (list []state) {
	seen := map[uint64]bool{}
	try := func(at uint64) {
		if at < 1<<12 || at%8 != 0 || seen[at] || len(seen) == mostCandidates {
			return
		}
		seen[at] = true
		for _, at := range r.alsoMain(m, at) {
			if st, ok := r.running(m, s, at); ok && !slices.ContainsFunc(list, func(other state) bool { return other.at == at }) {
				list = append(list, st)
			}
		}
	}
	for _, f := range s.Frames {
		pc := f.AddressInBlock()
		if pc < r.module.Lo() || pc >= r.module.Hi() || f.Type() != frame.Normal {
			continue
		}
		for reg := range trad.Reg(len(s.Arch.Regs)) {
			if v := f.Register(reg); s.Arch.CalleeSaved.Has(reg) && v.Known() {
				try(v.Bits)
			}
		}
		sp := f.Register(s.Arch.SP)
		cfa, ok := f.CFA()
		for at := sp.Bits; ok && sp.Known() && at < min(cfa, sp.Bits+8*mostWords); at += 8 {
			try(m.Pointer(at))
		}
		m.Err()
	}
	// The state of a coroutine that runs begins inside of where it was resumed.
	slices.SortStableFunc(list, func(a, b state) int { return cmp.Compare(a.jump-1, b.jump-1) })
	return list
}

// mainState returns the address of the main state of a group.
func (m reader) mainState(global uint64) uint64 {
	if m.GlobalWithin != absent {
		return global + m.GlobalMain
	}
	return m.Pointer(global + m.GlobalMain)
}

// alsoMain returns a state and the main one of its group, none if at is no state.
func (r *runtime) alsoMain(m reader, at uint64) []uint64 {
	global, ok := r.isState(m, at)
	if !ok {
		return nil
	}
	main := m.mainState(global)
	if m.Err() != nil || main == at {
		return []uint64{at}
	}
	return []uint64{at, main}
}

// isState reports whether there is a lua_State at an address, and returns its global_State.
func (r *runtime) isState(m reader, at uint64) (global uint64, ok bool) {
	if m.Uint(at+m.ObjectType, 1) != m.ObjectThread {
		m.Err()
		return 0, false
	}
	global = m.Pointer(at + m.StateGlobal)
	main := m.mainState(global)
	thread := m.Uint(main+m.ObjectType, 1) == m.ObjectThread && m.Pointer(main+m.StateGlobal) == global
	// The addresses of the stack do not fit each other while it is made larger.
	ok = thread && m.Pointer(at+m.StateStack) != 0 && m.Pointer(at+m.StateCall) != 0
	return global, m.Err() == nil && ok
}

// running returns the state at an address if it runs in a stack.
func (r *runtime) running(m reader, s *language.Stack, at uint64) (st state, ok bool) {
	st = state{at: at}
	if st.global, ok = r.isState(m, at); !ok {
		return st, false
	}
	first := at + m.StateBase
	if m.Version == 501 {
		first = m.Pointer(first)
	}
	if m.Pointer(at+m.StateCall) == first || m.Uint(at+m.StateStatus, 1) == m.StateYielded {
		m.Err()
		return st, false
	}
	jump := m.Pointer(at + m.StateJump)
	for range mostJumps {
		if jump == 0 {
			break
		}
		if !onStack(s, jump) || jump <= st.jump {
			m.Err()
			return st, false // it runs in another thread
		}
		st.jump = jump
		jump = m.Pointer(jump) // a lua_longjmp begins with the one before
	}
	// A coroutine always has such an address while it runs. The main state need not have one.
	ok = st.jump != 0 || m.mainState(st.global) == at
	return st, m.Err() == nil && ok
}

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
