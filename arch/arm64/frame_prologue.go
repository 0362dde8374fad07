package arm64

import "encoding/binary"

// maxPrologue is how many instructions are looked at for the end of a prologue.
const maxPrologue = 64

// skipPrologue implements arch.Arch.SkipPrologue: the prologue ends behind the
// last instruction, before control can go two ways, that saves a register that
// PREVIOUS wants back, moves the stack pointer for the frame, stores the back
// chain, or makes the frame pointer.
func skipPrologue(code []byte, start uint64) uint64 {
	s := entryState()
	at, end := 0, 0
	if btiC.is(code) { // where indirect calls land
		end = size
	}
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
		if at += size; setUp {
			end = at
		}
	}
	return start + uint64(end)
}

// straight reports whether control goes on to the next instruction, and to no other.
func (o *op) straight() bool { return o.kind < opCall }

// checksStack reports whether the branch at code[at:] is that to morestack, which
// every Go function with a frame begins with: ldr x16, [x28, #16], then a
// comparison with sp or with x17, an address below it, and b.ls.
func checksStack(code []byte, at int) bool {
	if at > 32 || at+size > len(code) || len(code) < size {
		return false
	}
	return binary.LittleEndian.Uint32(code) == 0xf9400b90 && binary.LittleEndian.Uint32(code[at:])&0xff00001f == 0x54000009
}

// setsUp reports whether an instruction sets up the frame.
func (s *state) setsUp(o *op) bool {
	switch o.kind {
	case opStore:
		if !s.address(o).onStack() {
			return false
		}
		return o.base == rsp && o.writeback < 0 ||
			o.width == 8 && (s.worthSaving(s.reg(o.dst)) || s.worthSaving(s.reg(o.dst2)))
	case opMove:
		if o.dst >= v0 { // in a leaf
			return s.worthSaving(s.reg(o.src))
		}
		if w := s.reg(o.src); o.dst == rsp { // behind a loop that probes the stack
			return w.base == cfa && w.off < entrySP
		}
	case opLea: // mov from sp is an addition of 0
		return o.dst == rsp && s.lowers(o) || o.dst == x29 && o.base == rsp && o.src == noReg && s.keeps(x29)
	case opSub: // of another number it is the frame's dynamic part
		return o.dst == rsp && s.reg(o.src).base == constant
	case opSign:
		return !s.signed && s.regs[x30] == entryOf(x30) && !s.keeps(x30)
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
	return !s.keeps(reg(v.base - entry))
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
		at += size
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
