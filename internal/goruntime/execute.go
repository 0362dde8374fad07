package goruntime

import (
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// step executes one instruction in its state.
type step struct {
	*state
	m    *Machine
	code []byte // of the function, which is at address lo
	lo   uint64
	addr uint64 // of the instruction
	temp value  // of values.Temp
}

// execute executes an instruction, but does not say where control goes.
func (s *step) execute(in *values.Inst, ops []values.Op) {
	for r := range values.Reg(s.m.Regs) {
		if in.Kill.Has(r) {
			s.set(r, value{})
		}
	}
	for i := range ops {
		s.do(&ops[i])
	}
}

// reg returns what a register holds.
func (s *step) reg(r values.Reg) value {
	switch {
	case r == values.Temp:
		return s.temp
	case r == values.PC:
		return value{kind: address, off: int64(s.addr)}
	case int(r) < s.m.Regs:
		return s.get(s.m.DWARF(r))
	}
	return value{}
}

// address returns the address of a Load or Store, or the result of a Sum.
func (s *step) address(o *values.Op) value {
	v := s.reg(o.Base)
	if o.Index != values.None {
		n := s.reg(o.Index)
		if v.kind == number {
			v, n = n, v
		}
		if n.kind != number {
			return value{}
		}
		v = v.plus(n.off)
	}
	return v.plus(int64(o.Imm))
}

// do executes a micro-operation.
func (s *step) do(o *values.Op) {
	switch o.Kind {
	case values.Sum:
		v := value{kind: number, off: int64(o.Imm)}
		if o.Base != values.None {
			v = s.address(o)
		}
		s.set(o.Dst, v)
	case values.Minus:
		s.set(o.Dst, s.minus(o))
	case values.Insert:
		v := value{}
		if old := s.reg(o.Dst); old.kind == number && old.off == int64(int32(old.off)) {
			if n, ok := o.Insert(int32(old.off)); ok {
				v = value{kind: number, off: int64(n)}
			}
		}
		s.set(o.Dst, v)
	case values.Round:
		s.set(o.Dst, s.rounded(o))
	case values.Load:
		v := value{}
		if o.Width == 8 {
			v = s.loaded(o)
		}
		s.set(o.Dst, v)
	case values.Store:
		at := s.address(o)
		if o.Width == 8 {
			s.write(at, s.reg(o.Src))
			return
		}
		for off := int64(0); off < int64(min(o.Width, 16)); off += 8 {
			s.write(at.plus(off), value{})
		}
	}
}

func (s *step) minus(o *values.Op) value {
	if o.Base == o.Index {
		return value{kind: number}
	}
	return over(distance, s.reg(o.Base), s.reg(o.Index))
}

// rounded returns the result of a Round. Of a stack pointer, all that matters is whether it is still
// on the same stack.
func (s *step) rounded(o *values.Op) value {
	was := s.reg(o.Base)
	switch {
	case o.Base == values.PC:
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

// loaded returns the result of a Load of a word. The assembler puts constants behind a function.
func (s *step) loaded(o *values.Op) value {
	switch values.Thread {
	case o.Base:
		return over(local, value{kind: number, off: int64(o.Imm)}, value{})
	case o.Index:
		return over(local, s.reg(o.Base).plus(int64(o.Imm)), value{})
	}
	at := s.address(o)
	if off := uint64(at.off) - s.lo; at.kind == address && off < uint64(len(s.code)) && uint64(len(s.code))-off >= 8 {
		return value{kind: number, off: int64(s.m.Arch.Order.Uint64(s.code[off:]))}
	}
	return s.read(at)
}

// set gives a register a value.
func (s *step) set(r values.Reg, v value) {
	if r == values.Temp {
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

// left returns the stack pointer on the stack that the function began on, when the function loads it
// from the word v, on another stack: it is the value stored at the same offset of a struct g.
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

// sameStack marks a fresh stack pointer that was not far away before.
const sameStack trad.Reg = 1

// switched returns the stack pointer behind the instruction at addr, which has set it to v. Words
// stored there are found by addr. The result keeps v.
func switched(v value, addr uint64) value {
	s := value{kind: fresh, id: addr << 1}
	if v.kind != unknown {
		s.of = &v
	}
	return s
}
