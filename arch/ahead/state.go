package ahead

// MaxRegs is how many registers a [State] has room for.
const MaxRegs = 64

// A Value is what a register or a word of the stack holds on the way: a number relative to
// a register at the PC, or the word that is saved there. The zero Value is not known.
type Value struct {
	kind  uint8
	deref bool  // the base is the word at reg+at, else reg itself
	reg   uint8 // as it was at the PC
	at    int32
	add   int32
}

const (
	unknown  = iota
	constant // add
	sum      // base+add
	word     // the word in memory at base+add; of a base that is reg itself it is written as a base
)

// far bounds distances: no frame is as large.
const far = 1 << 30

// Constant returns the number n.
func Constant(n int32) Value { return Value{kind: constant, add: n} }

// Live returns what register r held at the PC.
func Live(r uint8) Value { return Value{kind: sum, reg: r} }

// Known reports whether the value is known.
func (v Value) Known() bool { return v.kind != unknown }

// Number returns the number that a constant is.
func (v Value) Number() (n int32, ok bool) { return v.add, v.kind == constant }

// Plus returns v+n.
func (v Value) Plus(n int32) Value {
	if v.kind != sum && v.kind != constant {
		return Value{}
	}
	total := int64(v.add) + int64(n)
	if total <= -far || total >= far {
		return Value{}
	}
	v.add = int32(total)
	return v
}

// Sum returns v+w where one of them is a constant.
func (v Value) Sum(w Value) Value {
	if v.kind == constant {
		v, w = w, v
	}
	if w.kind != constant {
		return Value{}
	}
	return v.Plus(w.add)
}

// Minus returns v-w where w is a constant.
func (v Value) Minus(w Value) Value {
	if w.kind != constant {
		return Value{}
	}
	return v.Plus(-w.add)
}

// saved returns the word at address v as it was at the PC.
func (v Value) saved() Value {
	switch {
	case v.kind != sum:
		return Value{}
	case v.deref:
		v.kind = word
		return v
	}
	return Value{kind: sum, deref: true, reg: v.reg, at: v.add}
}

// sameBase reports whether v and w are addresses at a known distance from each other.
func (v Value) sameBase(w Value) bool {
	return v.kind == sum && w.kind == sum && v.deref == w.deref && v.reg == w.reg && v.at == w.at
}

// maxSlots is how many words that were stored on the way are remembered.
const maxSlots = 24

// A slot is a word that was stored on the way.
type slot struct{ at, val Value }

// A State is what registers and the stack hold at one instruction of a way out.
type State struct {
	regs   [MaxRegs]Value
	slots  [maxSlots]slot
	used   int
	signed bool // the return address has got, or lost, an authentication code on the way
	undone bool // some of a frame is undone: the stack pointer has been moved up, or a register restored
	forked bool // control could have gone two ways
	// compared is what the last instruction has compared the stack pointer with.
	compared Value
	// again are the registers whose values at the PC have been stored in the frame on the
	// way: what is loaded into them later, by another base, may be that or what the caller
	// had. The frame is where those of frame point to: what is stored elsewhere is data.
	again, frame uint64
}

// start makes s the state at the PC. The registers of frame point into the frame.
func (s *State) start(frame uint64) {
	*s = State{frame: frame}
	for r := range s.regs {
		s.regs[r] = Live(uint8(r))
	}
}

// Reg returns what a register holds; nothing is known of one that does not exist.
func (s *State) Reg(r uint8) Value {
	if r < MaxRegs {
		return s.regs[r]
	}
	return Value{}
}

// Set gives a register a value.
func (s *State) Set(r uint8, v Value) {
	if r < MaxRegs {
		s.regs[r] = v
	}
}

// changed returns the registers that have not the values that they had at the PC.
func (s *State) changed() (set uint64) {
	for r := range s.regs {
		if s.regs[r] != Live(uint8(r)) {
			set |= 1 << r
		}
	}
	return set
}

// Kill makes the values of a set of registers unknown.
func (s *State) Kill(set uint64) {
	for r := 0; r < MaxRegs && set>>r != 0; r++ {
		if set>>r&1 != 0 {
			s.regs[r] = Value{}
		}
	}
}

// Load returns the word at an address.
func (s *State) Load(at Value) Value {
	for i := s.used - 1; i >= 0; i-- {
		x := &s.slots[i]
		if at.sameBase(x.at) {
			switch d := at.add - x.at.add; {
			case d == 0:
				return x.val
			case d > -8 && d < 8:
				return Value{}
			}
		}
	}
	return at.saved()
}

// Store puts v, of width bytes, at an address. Where the address is not known nothing
// changes: compiled code does not overwrite what it has saved.
func (s *State) Store(at Value, width int32, v Value) {
	if at.kind != sum || width <= 0 {
		return
	}
	if width != 8 {
		v = Value{}
	}
	if v.kind == sum && !v.deref && v.add == 0 && (at.deref || s.frame>>at.reg&1 != 0) {
		s.again |= 1 << v.reg
	}
	kept := s.slots[:0]
	for _, x := range s.slots[:s.used] {
		if at.sameBase(x.at) && x.at.add < at.add+width && at.add < x.at.add+8 {
			continue
		}
		kept = append(kept, x)
	}
	s.used = len(kept)
	for off := int32(0); off < width && s.used < maxSlots; off += 8 {
		s.slots[s.used] = slot{at.Plus(off), v}
		s.used++
	}
}

// kept reports whether v is a word that was in the frame at the PC.
func (s *State) kept(v Value) bool {
	return v.kind == sum && v.deref && v.add == 0 && s.frame>>v.reg&1 != 0
}
