package ahead

import "github.com/sfwalk/sfwalk/arch/dataflow"

// A value is what a register or a word of the stack holds on the way: a number relative to
// a register at the PC, or the word that is saved there. The zero value is not known.
type value struct {
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

// number returns the number n.
func number(n int32) value { return value{kind: constant, add: n} }

// live returns what register r held at the PC.
func live(r uint8) value { return value{kind: sum, reg: r} }

// known reports whether the value is known.
func (v value) known() bool { return v.kind != unknown }

// Number returns the number that a constant is.
func (v value) Number() (n int32, ok bool) { return v.add, v.kind == constant }

// Plus returns v+n.
func (v value) Plus(n int32) value {
	if v.kind != sum && v.kind != constant {
		return value{}
	}
	total := int64(v.add) + int64(n)
	if total <= -far || total >= far {
		return value{}
	}
	v.add = int32(total)
	return v
}

// Sum returns v+w where one of them is a constant.
func (v value) Sum(w value) value {
	if v.kind == constant {
		v, w = w, v
	}
	if w.kind != constant {
		return value{}
	}
	return v.Plus(w.add)
}

// Minus returns v-w where w is a constant.
func (v value) Minus(w value) value {
	if w.kind != constant {
		return value{}
	}
	return v.Plus(-w.add)
}

// saved returns the word at address v as it was at the PC.
func (v value) saved() value {
	switch {
	case v.kind != sum:
		return value{}
	case v.deref:
		v.kind = word
		return v
	}
	return value{kind: sum, deref: true, reg: v.reg, at: v.add}
}

// sameBase reports whether v and w are addresses at a known distance from each other.
func (v value) sameBase(w value) bool {
	return v.kind == sum && w.kind == sum && v.deref == w.deref && v.reg == w.reg && v.at == w.at
}

// maxSlots is how many words that were stored on the way are remembered.
const maxSlots = 24

// A slot is a word that was stored on the way.
type slot struct{ at, val value }

// A state is what registers and the stack hold at one instruction of a way out.
type state struct {
	regs   [dataflow.MaxRegs]value
	slots  [maxSlots]slot
	used   int
	signed bool // the return address has got, or lost, an authentication code on the way
	undone bool // some of a frame is undone: the stack pointer has been moved up, or a register restored
	forked bool // control could have gone two ways
	left   bool // the stack pointer has been put into memory outside of the frame, for whoever comes back to this stack
	// compared is what the last instruction has compared the stack pointer with.
	compared value
	// again are the registers whose values at the PC have been stored in the frame on the way: what
	// is loaded into them later, by another base, may be that or what the caller had. The registers
	// of frame point to the frame: what is stored elsewhere is data.
	again, frame uint64
	word         int32 // bytes of a word
}

// start makes s the state at the PC, on a processor with words of so many bytes. The registers of
// frame point into the frame.
func (s *state) start(frame uint64, word int32) {
	*s = state{frame: frame, word: word}
	for r := range s.regs {
		s.regs[r] = live(uint8(r))
	}
}

// reg returns what a register holds; nothing is known of one that does not exist.
func (s *state) reg(r uint8) value {
	if r < dataflow.MaxRegs {
		return s.regs[r]
	}
	return value{}
}

// set gives a register a value.
func (s *state) set(r uint8, v value) {
	if r < dataflow.MaxRegs {
		s.regs[r] = v
	}
}

// changed returns the registers that have not the values that they had at the PC.
func (s *state) changed() (set uint64) {
	for r := range s.regs {
		if s.regs[r] != live(uint8(r)) {
			set |= 1 << r
		}
	}
	return set
}

// kill makes the values of a set of registers unknown.
func (s *state) kill(set uint64) {
	for r := 0; r < dataflow.MaxRegs && set>>r != 0; r++ {
		if set>>r&1 != 0 {
			s.regs[r] = value{}
		}
	}
}

// load returns the word at an address.
func (s *state) load(at value) value {
	for i := s.used - 1; i >= 0; i-- {
		x := &s.slots[i]
		if at.sameBase(x.at) {
			switch d := at.add - x.at.add; {
			case d == 0:
				return x.val
			case d > -s.word && d < s.word:
				return value{}
			}
		}
	}
	return at.saved()
}

// store puts v, of width bytes, at an address. Where the address is not known nothing
// changes: compiled code does not overwrite what it has saved.
func (s *state) store(at value, width int32, v value) {
	if at.kind != sum || width <= 0 {
		return
	}
	if width != s.word {
		v = value{}
	}
	if v.kind == sum && !v.deref && v.add == 0 && (at.deref || s.frame>>at.reg&1 != 0) {
		s.again |= 1 << v.reg
	}
	kept := s.slots[:0]
	for _, x := range s.slots[:s.used] {
		if at.sameBase(x.at) && x.at.add < at.add+width && at.add < x.at.add+s.word {
			continue
		}
		kept = append(kept, x)
	}
	s.used = len(kept)
	for off := int32(0); off < width && s.used < maxSlots; off += s.word {
		s.slots[s.used] = slot{at.Plus(off), v}
		s.used++
	}
}

// kept reports whether v is a word that was in the frame at the PC.
func (s *state) kept(v value) bool {
	return v.kind == sum && v.deref && v.add == 0 && s.frame>>v.reg&1 != 0
}
