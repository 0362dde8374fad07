package dataflow

// A Constant is a number that code computes. The zero Constant is not known.
type Constant struct {
	Known bool
	Value uint64
}

// Known returns the constant v.
func Known(v uint64) Constant { return Constant{true, v} }

// Plus, Sum, Minus and Number implement [Number].
func (c Constant) Plus(n int32) Constant { return c.Sum(Known(uint64(int64(n)))) }

func (c Constant) Sum(d Constant) Constant {
	if !c.Known || !d.Known {
		return Constant{}
	}
	return Known(c.Value + d.Value)
}

func (c Constant) Minus(d Constant) Constant {
	if !c.Known || !d.Known {
		return Constant{}
	}
	return Known(c.Value - d.Value)
}

func (c Constant) Number() (int32, bool) {
	return int32(c.Value), c.Known && c.Value == uint64(int64(int32(c.Value)))
}

// Constants is a [Domain] in which registers hold constants. It does not follow memory: a domain
// that does embeds it, and has Load and Store of its own.
type Constants struct {
	Machine *Machine
	Regs    [MaxRegs]Constant
	pc      uint64
	temp    Constant
}

// Forget makes all registers unknown.
func (s *Constants) Forget() { s.Regs, s.temp = [MaxRegs]Constant{}, Constant{} }

// Begin begins an instruction, whose address is pc: what comes before its micro-operations.
func (s *Constants) Begin(in *Inst, pc uint64) {
	s.pc, s.temp = pc, Constant{}
	for r := range Reg(s.Machine.Regs) {
		if in.Kill.Has(r) {
			s.Regs[r] = Constant{}
		}
	}
}

// Reg returns what a register holds.
func (s *Constants) Reg(r Reg) Constant {
	switch {
	case r == Temp:
		return s.temp
	case r == PC:
		return Known(s.pc)
	case int(r) < s.Machine.Regs:
		return s.Regs[r]
	}
	return Constant{}
}

// Set gives a register a value.
func (s *Constants) Set(r Reg, v Constant) {
	if r == Temp {
		s.temp = v
	} else if int(r) < s.Machine.Regs {
		s.Regs[r] = v
	}
}

// Constant returns a number.
func (s *Constants) Constant(n int32) Constant { return Known(uint64(int64(n))) }

// Round returns a value rounded down, as an address of a page is from which code makes another one.
func (s *Constants) Round(o *Op, v Constant) Constant {
	v.Value &= uint64(int64(o.Imm))
	return v
}

// Load returns nothing: memory is not followed.
func (s *Constants) Load(*Op, Constant) Constant { return Constant{} }

// Store, Compare and Sign change no register.
func (s *Constants) Store(*Op, Constant, Constant) {}
func (s *Constants) Compare(*Op)                   {}
func (s *Constants) Sign()                         {}
