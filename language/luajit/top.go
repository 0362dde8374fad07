package luajit

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/trad"
)

// top is where the innermost function of a state is.
type top struct {
	base   uint64 // its slots
	pc     uint64 // the address behind the instruction that runs; 0 if that is not known
	guess  bool   // pc need not be right
	why    string // why functions further inward are missing
	left   bool   // the machine's innermost frame runs no function any more
	trace  uint64 // the number of the trace that runs; 0 for none
	traced uint64 // from which slots on functions run in the trace
}

// tops yields where it may be, the most likely first. level is of the physical frame of the machine
// in which the function runs.
func (s *stack) tops(st *language.Stack, level int, yield func(t top) bool) {
	f := st.Frames[level]
	pc := f.AddressInBlock()
	compiled := !s.machine.Has(pc)
	switch {
	case compiled:
		if t, ok := s.inTrace(f, pc); ok && !yield(t) {
			return
		}
	case s.machine.Leaves(f.PC()):
		if t, ok := s.leaving(f); ok && !yield(t) {
			return
		}
	}
	s.Err()
	s.slots = nil
	if compiled || s.machine.Leaves(f.PC()) {
		if base := luajit.JITBase(s, s.Global); s.has(base) {
			// The code between a trace and the machine does not tell more.
			t := top{base: base, guess: true, why: "a trace is just being left, and the functions that it has called are not known"}
			if !yield(t) {
				return
			}
		}
	}
	s.Err()
	s.interpreted(st, level, yield)
}

// interpreted yields where the innermost function may be where an instruction is interpreted, or
// has called C.
func (s *stack) interpreted(st *language.Stack, level int, yield func(t top) bool) {
	rules := st.Arch.LuaJIT
	f, innermost := st.Frames[level], level == 0
	if level == 1 && s.helps(st.Frames[0]) {
		f, innermost = st.Frames[0], true // a part of the machine that it calls, and that changes none of these
	}
	register := func(r trad.Reg) uint64 {
		if r == arch.NoReg || !innermost && !st.Arch.CalleeSaved.Has(r) {
			return 0
		}
		v := f.Register(r)
		if !v.Known() {
			return 0
		}
		return v.Bits
	}
	pc := register(rules.PC)
	bases := []uint64{s.base, register(rules.Base), register(rules.Spare)}
	if innermost {
		bases[0], bases[1] = bases[1], bases[0]
	}
	m := moment{}
	if innermost {
		m = s.momentOf(f)
	}
	for _, base := range bases {
		if t, ok := s.at(base, pc, m); ok && !yield(t) {
			return
		}
		s.Err()
	}
	// The machine is just entering or leaving a function: its register is used otherwise.
	for _, base := range bases {
		if t, ok := s.about(base); ok && !yield(t) {
			return
		}
		s.Err()
	}
	// The machine computes the slots of the function of C to which it returns.
	for _, base := range []uint64{pc, -pc, bases[0] - pc, bases[0] - pc&^linkTypes} {
		if s.has(base) {
			if _, proto, dummy, ok := s.function(base-8, 0); ok && proto == 0 && !dummy && !yield(top{base: base, left: true}) {
				return
			}
			s.Err()
		}
	}
	yield(top{base: s.base})
}

// helps reports whether a frame is of a part of the machine's code that the machine has called.
func (s *stack) helps(f *frame.Frame) bool {
	_, is := s.machineAt(s.reader, f)
	return !is && s.machine.Has(f.PC())
}

// about returns where the innermost function is by its slots alone.
func (s *stack) about(base uint64) (t top, ok bool) {
	if !s.has(base) {
		return t, false
	}
	link, _ := s.word(base - 8)
	_, proto, dummy, ok := s.function(base-8, 0)
	switch {
	case ok && !dummy:
		pc := s.Pointer(s.At + s.PC)
		if proto == 0 || !s.runs(proto, pc) {
			pc = 0
		}
		return top{base: base, pc: pc, guess: true}, s.linked(base, link)
	case dummy:
		return t, false
	case link&linkType == 0:
		return s.at(base, link, moment{calls: true})
	}
	// A result is in the place of the function, which returns to C.
	caller := s.previous(base-8, link) + 8
	s.Err()
	_, _, _, ok = s.function(caller-8, 0)
	return top{base: caller, left: link&linkType == linkC}, ok && s.has(caller)
}

// moment is what the machine's code does just now.
type moment struct {
	calls   bool // the slots are the called function's already, and its link is written next
	returns bool // the link of the function was loaded
}

// mostBehind bounds the code of the machine before an instruction that is looked at, bytes.
const mostBehind = 128

// momentOf reads it from the code around the instruction of a frame.
func (s *stack) momentOf(f *frame.Frame) (m moment) {
	rules := s.arch.LuaJIT
	code := make([]byte, mostBehind+len(rules.Link))
	if !s.Bytes(f.PC()-mostBehind, code) {
		s.Err()
		return m
	}
	m.calls = bytes.HasPrefix(code[mostBehind:], rules.Link)
	loaded := bytes.LastIndex(code[:mostBehind], rules.Unlink)
	m.returns = loaded >= 0 && loaded > bytes.LastIndex(code[:mostBehind], rules.Next) &&
		(rules.Back == nil || !bytes.Contains(code[loaded:mostBehind], rules.Back))
	return m
}

// at returns where the innermost function is if its slots are at an address and the machine is at
// an instruction. ok is false if these do not fit each other.
func (s *stack) at(base, pc uint64, m moment) (t top, ok bool) {
	if !s.has(base) {
		return t, false
	}
	link, _ := s.word(base - 8)
	_, proto, dummy, ok := s.function(base-8, pc)
	s.Err()
	switch {
	case pc&linkType == 0 && pc != 0 && (m.calls || !ok || m.returns && (proto == 0 || link == pc) || proto != 0 && pc != proto+luajit.Proto && !s.runs(proto, pc)):
		// The function has not begun, or it has ended: then results may be in its place.
		caller := s.previous(base-8, pc) + 8
		if !s.has(caller) {
			return t, false
		}
		_, proto, _, ok := s.function(caller-8, pc)
		return top{base: caller, pc: pc}, ok && proto != 0 && s.runs(proto, pc)
	case !ok || dummy:
		return t, false
	case proto == 0:
		return top{base: base}, s.linked(base, link)
	case pc == proto+luajit.Proto: // it just begins
		return top{base: base, pc: pc + 4}, true
	}
	return top{base: base, pc: pc}, true
}

// linked reports whether the link of a function of C leads to a function.
func (s *stack) linked(base, link uint64) bool {
	caller := s.previous(base-8, link) + 8
	if s.Err() != nil || caller >= base || caller <= s.lo {
		return false
	}
	if caller <= s.lo+16 {
		return true
	}
	_, proto, _, ok := s.function(caller-8, link)
	return ok && (link&linkType != 0 || proto != 0 && s.runs(proto, link))
}

// inTrace finds the innermost function where a trace runs, or has called C.
func (s *stack) inTrace(f *frame.Frame, pc uint64) (t top, ok bool) {
	c, ok := luajit.CompilerOf(s, s.Global)
	if !ok {
		return t, false
	}
	trace, ok := c.Find(pc)
	base := luajit.JITBase(s, s.Global)
	if !ok || !s.has(base) || luajit.Current(s, s.Global) != s.State {
		return t, false
	}
	unit := s.arch.LuaJIT.Unit
	number := trace.ExitAt(pc, unit)
	if s.moves(f, trace.From(number, unit), pc) {
		// The trace has left the function where it began, or goes on as another trace.
		if number++; number == trace.Exits() {
			if next, ok := c.Trace(trace.Link()); ok {
				trace.Number = next.Number
				t, ok := s.at(base, next.StartsAt+4, moment{})
				t.trace, t.traced, t.guess = next.Number, base, true
				return t, ok
			}
			return t, false
		}
	}
	return s.exit(&trace, number, base)
}

// mostRegion bounds the code between two ways out that is looked at, bytes.
const mostRegion = 4 << 10

// moves reports whether a trace has noted another base in its code from an address up to another
// one.
func (s *stack) moves(f *frame.Frame, lo, hi uint64) bool {
	global := f.Register(s.arch.LuaJIT.Global)
	if !global.Known() || hi <= lo || hi-lo > mostRegion {
		return false
	}
	code := make([]byte, hi-lo)
	ok := s.Bytes(lo, code)
	s.Err()
	return ok && s.arch.LuaJIT.Stores(code, int32(luajit.JITBaseAt(s, s.Global)-global.Bits))
}

// exit finds the innermost function at a way out of a trace that has begun at base. It notes what
// the trace has in place of the slots in memory.
func (s *stack) exit(trace *luajit.Trace, number, base uint64) (t top, ok bool) {
	e, ok := trace.Exit(number)
	if !ok {
		return t, false
	}
	s.slots = map[uint64]slot{}
	for _, x := range e.Slots {
		if x.Written {
			s.slots[base+8*x.Index-16] = slot{x.Value, x.Known}
		}
	}
	t = top{base: base + e.Base, pc: e.PC + 4, trace: trace.Number, traced: base, guess: true}
	if _, proto, _, ok := s.function(t.base-8, t.pc); ok && (proto == 0 || s.runs(proto, t.pc)) {
		return t, true
	}
	s.slots = nil
	return t, false
}

// leaving finds the innermost function where a trace is just being left.
func (s *stack) leaving(f *frame.Frame) (t top, ok bool) {
	c, ok := luajit.CompilerOf(s, s.Global)
	if !ok {
		return t, false
	}
	trace, number, ok := c.Left()
	if !ok || uint32(s.Uint(s.Global+luajit.GlobalVMState, 4)) != luajit.VMInExit {
		return t, false
	}
	base := luajit.JITBase(s, s.Global)
	if base == 0 {
		base = s.base
		e, _ := trace.Exit(number)
		sp := f.Register(s.arch.SP)
		if saved, _ := s.word(sp.Bits + s.arch.LuaJIT.ExitBase); sp.Known() && e.Base != 0 && saved == base-e.Base {
			// The slots have been written already.
			_, proto, _, ok := s.function(base-8, e.PC+4)
			return top{base: base, pc: e.PC + 4}, ok && s.runs(proto, e.PC+4)
		}
	}
	if !s.has(base) {
		return t, false
	}
	t, ok = s.exit(&trace, number, base)
	t.guess = false
	return t, ok
}
