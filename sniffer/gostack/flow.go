package gostack

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/trad"
)

// word is a word of memory, at an address that is an expression itself.
type word struct{ at, value value }

// state is what is known at one instruction.
type state struct {
	regs  []value // by register number
	words []word  // that the function has written

	// saved is the stack pointer that gosave_systemstack_switch has put into g.sched, and
	// savedFP the frame pointer; back is where the stack pointer was taken from again.
	saved, savedFP, back value
}

// maxWords is how many words a function may have written.
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

// write changes the word at an address. Where the address is not known, it is taken to
// be none of those that matter: of the frame, and of the goroutine's struct g.
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

// join leaves in s what it has in common with t, at the instruction at addr, and reports
// whether that is less.
func (s *state) join(t *state, m *machine, addr uint64) (changed bool) {
	for r := range s.regs {
		if equal(s.regs[r], t.regs[r]) {
			continue
		}
		v := value{}
		if trad.Reg(r) == m.sp {
			v = value{kind: fresh, id: addr<<1 | 1} // wherever it is, what is stored from now on is found by it
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
	behind map[uint64]*state // where a call returns to; what follows may be no code of the function
	visits int               // of instructions
}

// Bounds of what is followed of a function.
const (
	maxFunction = 4 << 10 // bytes
	maxVisits   = 6000    // of instructions
)

// follow reads a function whose code, at address lo, begins with its entry. name gives
// the names of functions that it calls. delta says how far below its first value the
// stack pointer is at an instruction, where a table knows; code behind a call that does
// not return is told by it.
func follow(m *machine, code []byte, lo uint64, name func(addr uint64) string, delta func(pc uint64) (int32, bool)) *flow {
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
	todo := []uint64{lo}
	reach := func(addr uint64, s *state) {
		if d, ok := delta(addr); ok && s.get(m.sp).from(m.sp) && s.get(m.sp).off != int64(-d) {
			return
		}
		switch old := f.at[addr]; {
		case addr-lo >= uint64(len(code)):
		case old == nil:
			f.at[addr] = s.clone()
			todo = append(todo, addr)
		case old.join(s, m, addr):
			todo = append(todo, addr)
		}
	}
	for ; len(todo) > 0 && f.visits < maxVisits; f.visits++ {
		addr := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		in, ok := m.decode(code[addr-lo:], addr)
		if !ok || in.size == 0 {
			continue
		}
		s := f.at[addr].clone()
		for _, o := range in.ops {
			s.do(o, m, addr)
		}
		next := addr + uint64(in.size)
		switch in.flow {
		case branch:
			reach(in.target, s)
			reach(next, s)
		case jump:
			reach(in.target, s)
		case call:
			callee := ""
			if in.target != 0 {
				callee = name(in.target)
			}
			s.called(m, in.target != 0, callee)
			f.behind[next] = s
			if !neverReturns(callee) {
				reach(next, s)
			}
		case onward:
			reach(next, s)
		}
	}
	return f
}

// neverReturns reports whether a function of the runtime does not: what follows a call of it
// has another state. Where morestack comes back to, registers are as they were before.
func neverReturns(name string) bool {
	switch name = base(name); name {
	case "runtime.abort", "runtime.badmcall", "runtime.badmcall2", "runtime.badmorestackg0", "runtime.badmorestackgsignal", "runtime.badsystemstack":
		return true
	}
	return strings.HasPrefix(name, Morestack.function)
}

// do has one effect of the instruction at addr.
func (s *state) do(o op, m *machine, addr uint64) {
	v := value{}
	switch o.kind {
	case set:
		if v = (value{kind: number, off: o.imm}); o.src != none {
			v = s.get(o.src).plus(o.imm)
		}
	case setAt:
		v = value{kind: address, off: o.imm}
	case load:
		v = s.read(s.get(o.src).plus(o.imm))
	case fetch:
		v = s.read(value{kind: address, off: o.imm})
	case own:
		at := value{kind: number, off: o.imm}
		if o.src != none {
			at = s.get(o.src).plus(o.imm)
		}
		v = over(local, at, value{})
	case minus:
		v = over(distance, s.get(o.dst), s.get(o.src))
	case plus:
		if n := s.get(o.src); n.kind == number {
			v = s.get(o.dst).plus(n.off)
		}
	case store:
		v = value{}
		if o.src != none {
			v = s.get(o.src)
		}
		s.write(s.get(o.dst).plus(o.imm), v)
		return
	case align:
		// Whether it is still on the same stack is all that must be known.
		was := s.get(o.dst)
		if v = (value{kind: fresh, id: addr << 1}); was.from(m.sp) || was.kind == fresh && was.reg == sameStack {
			v.reg = sameStack
		}
	}
	if v.kind == deref {
		switch {
		case o.dst == m.sp && s.get(m.sp).kind == fresh:
			if left := s.left(m, v); left.kind != unknown {
				v, s.back = left, v
			}
		case o.dst == m.fp && s.saved.kind != unknown && equal(s.get(m.sp), s.saved):
			v = s.savedFP
		}
	}
	if o.dst == m.sp && v.kind != entry && v.kind != fresh {
		v = switched(v, addr)
	}
	s.put(o.dst, v)
}

// left returns what the stack pointer was on the stack that the function began on, when it
// takes the word v for it, on another stack: what was stored at the same place of a struct g.
func (s *state) left(m *machine, v value) value {
	if s.saved.kind != unknown {
		return s.saved
	}
	for _, w := range s.words {
		if w.value.from(m.sp) && !w.at.from(m.sp) && w.at.kind != fresh && w.at.off == v.of.off && w.at.off != 0 {
			return w.value
		}
	}
	return value{}
}

// sameStack marks a fresh stack pointer that was not far away before.
const sameStack trad.Reg = 1

// switched is the stack pointer behind an instruction that has set it to v. The words that
// are stored there are found by the instruction's address. What v was is kept.
func switched(v value, addr uint64) value {
	s := value{kind: fresh, id: addr << 1}
	if v.kind != unknown {
		s.of = &v
	}
	return s
}

// called is what a call leaves. Functions of Go preserve the frame pointer and g; those of
// C more, and code that keeps a stack pointer over an indirect call trusts in that.
func (s *state) called(m *machine, direct bool, name string) {
	switch base(name) {
	case "gosave_systemstack_switch", "runtime.save_g", "runtime.load_g":
		for _, r := range m.gosave {
			s.put(r, value{})
		}
		switch base(name) {
		case "gosave_systemstack_switch":
			s.saved, s.savedFP = s.get(m.sp), s.get(m.fp)
		case "runtime.load_g":
			s.put(m.g, over(local, value{kind: number}, value{}))
		}
		return
	}
	for r := range s.regs {
		reg := trad.Reg(r)
		if reg != m.sp && (reg != m.fp || m.noFP) && reg != m.g && (direct || !slices.Contains(m.kept, reg) || !s.regs[r].from(m.sp)) {
			s.regs[r] = value{}
		}
	}
}
