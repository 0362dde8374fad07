package goruntime

import (
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// step executes one instruction in its state. It implements dataflow.Domain.
type step struct {
	*state
	m    *Machine
	code []byte // of the function, which is at address lo
	lo   uint64
	addr uint64 // of the instruction
	temp value  // of dataflow.Temp
}

// execute executes an instruction, but does not say where control goes.
func (s *step) execute(in *dataflow.Inst, ops []dataflow.Op) {
	for r := range dataflow.Reg(s.m.Regs) {
		if in.Kill.Has(r) {
			s.Set(r, value{})
		}
	}
	for i := range ops {
		dataflow.Execute(s, &ops[i])
	}
}

// Reg returns what a register holds.
func (s *step) Reg(r dataflow.Reg) value {
	switch {
	case r == dataflow.Temp:
		return s.temp
	case r == dataflow.PC:
		return value{kind: address, off: int64(s.addr)}
	case int(r) < s.m.Regs:
		return s.get(s.m.DWARF(r))
	}
	return value{}
}

// Set gives a register a value.
func (s *step) Set(r dataflow.Reg, v value) {
	if r == dataflow.Temp {
		s.temp = v
		return
	}
	if v.kind == deref {
		switch {
		case r == s.m.SP && s.get(s.m.sp).kind == fresh:
			if left := s.left(s.m, v); left.kind != unknown {
				v, s.back = left, v
			}
		case r == s.m.FP && s.saved.kind != unknown && equal(s.get(s.m.sp), s.saved):
			v = s.savedFP
		}
	}
	if r == s.m.SP && v.kind != entry && v.kind != fresh {
		v = switched(v, s.addr)
	}
	if int(r) < s.m.Regs {
		s.put(s.m.DWARF(r), v)
	}
}

// Constant returns a number.
func (s *step) Constant(n int32) value { return value{kind: number, off: int64(n)} }

// Round returns the result of a Round. All that matters about a stack pointer is whether it is
// still on the same stack.
func (s *step) Round(o *dataflow.Op, was value) value {
	switch {
	case o.Base == dataflow.PC:
		was.off &= int64(o.Imm)
		return was
	case o.Imm < -4096:
		return value{}
	}
	v := value{kind: fresh, id: s.addr << 1}
	if was.from(s.m.sp) || was.kind == fresh && was.reg == sameStack {
		v.reg = sameStack
	}
	return v
}

// Load returns the word at an address. code has the constants that the assembler puts behind a
// function.
func (s *step) Load(o *dataflow.Op, at value) value {
	switch {
	case o.Width != 8:
		return value{}
	case o.Base == dataflow.Thread:
		return over(local, value{kind: number, off: int64(o.Imm)}, value{})
	case o.Index == dataflow.Thread:
		return over(local, s.Reg(o.Base).plus(int64(o.Imm)), value{})
	}
	if off := uint64(at.off) - s.lo; at.kind == address && off < uint64(len(s.code)) && uint64(len(s.code))-off >= 8 {
		return value{kind: number, off: int64(s.m.Arch.Order.Uint64(s.code[off:]))}
	}
	return s.read(at)
}

// Store changes the words at an address. A store that is not one word wide leaves unknown words.
func (s *step) Store(o *dataflow.Op, at, v value) {
	if o.Width == 8 {
		s.write(at, v)
		return
	}
	for off := int64(0); off < int64(min(o.Width, 16)); off += 8 {
		s.write(at.plus(off), value{})
	}
}

// Compare does nothing: no value depends on it.
func (*step) Compare(*dataflow.Op) {}

// Sign does nothing: values have no authentication codes.
func (*step) Sign() {}

// left returns the stack pointer on the stack that the function began on. The function is on
// another stack and loads it from the word v. It is the value that the function stored at the same
// offset of a struct g.
func (s *state) left(m *Machine, v value) value {
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

// sameStack marks a fresh stack pointer that is near its value before, and so on the same stack.
const sameStack trad.Reg = 1

// switched returns the stack pointer behind the instruction at addr, which has set it to v. The
// result is identified by addr, as are words stored relative to it, and keeps v.
func switched(v value, addr uint64) value {
	s := value{kind: fresh, id: addr << 1}
	if v.kind != unknown {
		s.of = &v
	}
	return s
}
