package s390x

import "github.com/sfwalk/sfwalk/trad"

// maxPrologue is how many instructions are looked at for the end of a prologue.
const maxPrologue = 64

// skipPrologue implements arch.Arch.SkipPrologue: the prologue ends behind the
// last instruction, before control can go two ways, that saves a register that
// PREVIOUS wants back, moves the stack pointer for the frame, stores the back
// chain, or makes the frame pointer.
func skipPrologue(code []byte, start uint64) uint64 {
	s := entryState()
	at, end := 0, 0
	for range maxPrologue {
		if at >= len(code) {
			break
		}
		o := decode(code, at)
		if !o.straight() && !checksStack(code, at) {
			break
		}
		setUp := s.setsUp(&o)
		s.exec(&o, int32(at))
		if at += int(o.len); setUp {
			end = at
		}
	}
	return start + uint64(end)
}

// straight reports whether control goes on to the next instruction, and to no other.
func (o *op) straight() bool { return o.kind < opCall }

// checksStack reports whether the branch at code[at:] is that to morestack, which
// every Go function with a frame begins with: lg %r10,16(%r13), then clgrj of r10
// with r15, or with r11, an address below it.
func checksStack(code []byte, at int) bool {
	return match(code, 0xe3, 0xa0, 0xd0, 0x10, 0x00, 0x04) &&
		(match(code[at:], 0xec, 0xaf, -1, -1, -1, 0x65) || match(code[at:], 0xec, 0xab, -1, -1, -1, 0x65))
}

// setsUp reports whether an instruction sets up the frame.
func (s *state) setsUp(o *op) bool {
	switch o.kind {
	case opStores:
		to := s.reg(o.base).plus(o.imm)
		if !to.onStack() {
			return false
		}
		for r := o.dst; ; r = (r + 1) & 15 {
			if s.worthSaving(s.reg(r)) {
				return true
			}
			if r == o.last {
				return false
			}
		}
	case opStore:
		to := s.reg(o.base).plus(o.imm)
		return o.width == 8 && to.onStack() && (s.worthSaving(s.reg(o.src)) || to.base == cfa && to == s.regs[R15] && s.reg(o.src) == value{cfa, entrySP})
	case opMove:
		if o.dst >= F0 { // in a leaf
			return s.worthSaving(s.reg(o.src)) || o.src == R15
		}
		if v := s.reg(o.src); o.dst == R15 { // behind a loop that probes the stack
			return v.base == cfa && v.off < entrySP
		}
		return o.dst == R11 && o.src == R15 && s.keeps(R11)
	case opLea:
		return o.dst == R15 && s.lowers(o) || o.dst == R11 && o.base == R15 && o.src == noReg && s.keeps(R11)
	case opSub: // of another number it is the frame's dynamic part
		return o.dst == R15 && s.reg(o.src).base == constant
	}
	return false
}

// lowers reports whether an opLea into r15 makes the stack grow.
func (s *state) lowers(o *op) bool {
	n := o.imm
	if index := s.reg(o.src); o.src != noReg {
		n += index.off
	}
	return n < 0
}

// worthSaving reports whether v is what the caller had in a register that
// PREVIOUS wants back.
func (s *state) worthSaving(v value) bool {
	if !v.tracks(tracked) {
		return false
	}
	return !s.keeps(trad.Reg(v.base - entry))
}

// settingUp reports whether, from the instruction with index i, the frame is
// still being set up before control can go two ways.
func (a *analysis) settingUp(i int32) bool {
	s := a.states[i]
	at := a.at[i]
	for range maxPrologue {
		o := a.peek(at)
		if !o.straight() {
			return false
		}
		if s.setsUp(o) {
			return true
		}
		s.exec(o, at)
		at += int32(o.len)
	}
	return false
}

// tearingDown reports whether some of the frame is gone before the instruction
// with index i, on the way out.
func (a *analysis) tearingDown(i int32) bool {
	if a.states[i].teardown == intact {
		return false
	}
	_, ok := readEpilogue(a.code[a.at[i]:], 0)
	return ok
}
