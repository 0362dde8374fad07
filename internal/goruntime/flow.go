package goruntime

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// word is a word of memory, at an address that is an expression itself.
type word struct{ at, value value }

// state is what is known at one instruction.
type state struct {
	regs  []value // by register number
	words []word  // that the function has written

	// saved and savedFP are the stack pointer and the frame pointer that gosave_systemstack_switch
	// has put into g.sched. back is the word from which the function has reloaded the stack
	// pointer.
	saved, savedFP, back value
	// elsewhere and shift are set if the function does not return to its caller: see
	// flow.elsewhere.
	elsewhere value
	shift     int64
}

// maxWords bounds the number of written words that a state keeps.
const maxWords = 40

func (s *state) clone() *state {
	c := *s
	c.regs, c.words = slices.Clone(s.regs), slices.Clone(s.words)
	return &c
}

func (s *state) get(r trad.Reg) value {
	if int(r) < len(s.regs) {
		return s.regs[r]
	}
	return value{}
}

func (s *state) put(r trad.Reg, v value) {
	if int(r) < len(s.regs) {
		s.regs[r] = v
	}
}

// read returns the word at an address.
func (s *state) read(at value) value {
	for i := range s.words {
		if equal(s.words[i].at, at) {
			return s.words[i].value
		}
	}
	return over(deref, at, value{})
}

// write changes the word at an address. A write to an unknown address is assumed to change no word
// that matters, in the frame or in the goroutine's struct g.
func (s *state) write(at, v value) {
	if at.kind == unknown {
		return
	}
	for i := range s.words {
		if equal(s.words[i].at, at) {
			s.words[i].value = v
			return
		}
	}
	if len(s.words) < maxWords {
		s.words = append(s.words, word{at, v})
	}
}

// join reduces s, the state before the instruction at addr, to what s and t have in common. It
// reports whether that changes s.
func (s *state) join(t *state, m *Machine, addr uint64) (changed bool) {
	for r := range s.regs {
		if equal(s.regs[r], t.regs[r]) {
			continue
		}
		v := value{}
		switch trad.Reg(r) { // words stored from now on are found by addr, wherever SP or the struct g is
		case m.sp:
			v = value{kind: fresh, id: addr<<1 | 1}
		case m.G:
			v = value{kind: fresh, id: addr<<1 | 1, reg: m.G}
		}
		if !equal(s.regs[r], v) {
			s.regs[r], changed = v, true
		}
	}
	for _, v := range [][2]*value{{&s.saved, &t.saved}, {&s.savedFP, &t.savedFP}, {&s.back, &t.back}} {
		if v[0].kind != unknown && !equal(*v[0], *v[1]) {
			*v[0], changed = value{}, true
		}
	}
	n := len(s.words)
	s.words = slices.DeleteFunc(s.words, func(w word) bool {
		i := slices.IndexFunc(t.words, func(o word) bool { return equal(o.at, w.at) })
		return i < 0 || !equal(t.words[i].value, w.value)
	})
	return changed || len(s.words) != n
}

// flow is what is known at each instruction of a function of assembly.
type flow struct {
	at     map[uint64]*state // before the instruction
	behind map[uint64]*state // at the return address of a call, which may be behind the function's end
	visits int               // of instructions

	// elsewhere is what the function has for its return address, if that is not what its own call
	// has left: a word of its caller's stack. Then the caller is a stub, to which it never comes
	// back. shift is how much more of the stack it gives back than if it did return there.
	elsewhere value
	shift     int64
}

// Bounds of the part of a function that is followed.
const (
	maxFunction = 4 << 10 // bytes
	maxVisits   = 6000    // of instructions
)

// follow follows the function with the given code, which is at address lo, from its first
// instruction. name returns the name of a function that it calls. delta returns how far, in bytes,
// the stack pointer is below its first value at pc, if a table has that. follow drops a state in
// which the stack pointer is elsewhere: it comes from a call that does not return.
func follow(m *Machine, code []byte, lo uint64, name func(addr uint64) string, delta func(pc uint64) (int32, bool)) *flow {
	f := &flow{at: map[uint64]*state{}, behind: map[uint64]*state{}}
	if len(code) == 0 {
		return f
	}
	first := &state{regs: make([]value, m.regs)}
	for r := range first.regs {
		first.regs[r] = value{kind: entry, reg: trad.Reg(r)}
	}
	if m.pushed != 0 {
		first.write(first.get(m.sp), value{kind: entry, reg: m.ra})
		first.put(m.ra, value{})
	}
	f.at[lo] = first
	pending := []uint64{lo} // ascending: where branches forward meet, all have been followed before what is behind
	add := func(addr uint64) {
		if i, found := slices.BinarySearch(pending, addr); !found {
			pending = slices.Insert(pending, i, addr)
		}
	}
	var in dataflow.Inst
	var ops []dataflow.Op
	reach := func(addr uint64, s *state) {
		if d, ok := delta(addr); ok && s.get(m.sp).from(m.sp) && s.get(m.sp).off != int64(-d) {
			return
		}
		switch old := f.at[addr]; {
		case addr-lo >= uint64(len(code)):
		case old == nil:
			f.at[addr] = s.clone()
			add(addr)
		case old.join(s, m, addr):
			add(addr)
		}
	}
	returns := 0
	for ; len(pending) > 0 && f.visits < maxVisits; f.visits++ {
		addr := pending[0]
		pending = slices.Delete(pending, 0, 1)
		at := int(addr - lo)
		in, ops = m.Decode(code, at, ops[:0])
		s := &step{f.at[addr].clone(), m, code, lo, addr, value{}}
		s.execute(&in, ops)
		target, next := lo+uint64(in.Target), addr+uint64(in.Len)
		switch in.Flow {
		case dataflow.Branch, dataflow.BranchNE:
			reach(target, s.state)
			reach(next, s.state)
		case dataflow.Jump:
			reach(target, s.state)
		case dataflow.Call:
			callee, direct := "", in.Target != dataflow.NoTarget
			if direct {
				callee = name(target)
			}
			s.called(m, direct, callee)
			f.behind[next] = s.state
			if !neverReturns(callee) {
				reach(next, s.state)
			}
		case dataflow.Next, dataflow.MaybeTo:
			reach(next, s.state)
		}
		if in.Return || in.Flow == dataflow.Away { // a return behind a store to where it returns may be a jump: a thunk's
			before := &step{f.at[addr], m, code, lo, addr, value{}}
			if f.returnsBy(m, before, in.By, in.Return, returns == 0) {
				returns++
			}
		}
	}
	if f.elsewhere.kind != unknown {
		for _, states := range []map[uint64]*state{f.at, f.behind} {
			for _, s := range states {
				s.elsewhere, s.shift = f.elsewhere, f.shift
			}
		}
	}
	return f
}

// returnsBy notes where an instruction returns to, by a register or by the word at the stack
// pointer. s is before it. If it is not sure that it does return, only a word of the caller's stack
// says so. All that return must agree.
func (f *flow) returnsBy(m *Machine, s *step, by dataflow.Reg, sure, first bool) (returns bool) {
	sp := s.get(m.sp)
	to := s.Reg(by)
	if m.pushed != 0 {
		to = s.read(sp)
	}
	callers := to.kind == deref && to.off == 0 && to.of.from(m.sp) && to.of.off > 0 && sp.from(m.sp) && sp.off > 0
	switch {
	case !callers && !sure:
		return false
	case !callers, !first && (f.elsewhere.kind == unknown || !equal(to, f.elsewhere) || sp.off != f.shift):
		f.elsewhere, f.shift = value{}, 0
	case first:
		f.elsewhere, f.shift = to, sp.off
	}
	return true
}

// called changes the state as a call does. If the call is direct, name is the function called.
// Functions of Go preserve the frame pointer and g. Those of C preserve more: code that keeps a
// stack pointer in a register over an indirect call relies on that.
func (s *state) called(m *Machine, direct bool, name string) {
	change := func(list []trad.Reg) {
		for _, r := range list {
			s.put(r, value{})
		}
	}
	switch name = Base(name); name {
	case "gosave_systemstack_switch":
		change(m.Switch)
		s.saved, s.savedFP = s.get(m.sp), s.get(m.fp)
		return
	case "runtime.save_g", "runtime.load_g":
		change(m.Storage)
		if name == "runtime.load_g" {
			s.put(m.G, over(local, value{kind: number}, value{}))
		}
		return
	}
	for r := range s.regs {
		reg := trad.Reg(r)
		if reg != m.sp && (reg != m.fp || m.NoFP) && reg != m.G && (direct || !slices.Contains(m.kept, reg) || !s.regs[r].from(m.sp)) {
			s.regs[r] = value{}
		}
	}
}
