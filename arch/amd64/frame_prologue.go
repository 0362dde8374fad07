package amd64

import "github.com/sfwalk/sfwalk/trad"

// maxPrologue is how many instructions are looked at for the end of a prologue.
const maxPrologue = 64

// skipPrologue implements arch.Arch.SkipPrologue: the prologue ends behind the
// last instruction, before control can go two ways, that saves a register that
// calls preserve, moves the stack pointer for the frame, or makes the frame
// pointer. GDB without line tables stops sooner, behind the frame pointer.
func skipPrologue(code []byte, start uint64) uint64 {
	s := entryState()
	at, end := 0, 0
	for range maxPrologue {
		if at >= len(code) {
			break
		}
		o := decode(code, at)
		if !o.straight() && !o.checksStack(code, at) {
			break
		}
		setUp := s.setsUp(&o)
		s.exec(&o, int32(at))
		if at += int(o.len); setUp || o.nop && end == at-int(o.len) && end == 0 {
			end = at
		}
	}
	return start + uint64(end)
}

// straight reports whether control goes on to the next instruction, and to no other.
func (o *op) straight() bool { return o.kind < opCall }

// checksStack reports whether the branch at code[at:] is that to morestack, which
// every Go function with a frame begins with: a comparison of rsp (or of r12, an
// address below it) with the limit that r14 points to, and a jbe.
func (o *op) checksStack(code []byte, at int) bool {
	if o.kind != opBranch || code[at] != 0x76 && (code[at] != 0x0f || at+1 >= len(code) || code[at+1] != 0x86) {
		return false
	}
	p := code[max(0, at-4):at] // cmp 0x10(%r14),%rsp or %r12
	return len(p) == 4 && (p[0] == 0x49 && p[2] == 0x66 || p[0] == 0x4d && p[2] == 0x66) && p[1] == 0x3b && p[3] == 0x10
}

// setsUp reports whether an instruction sets up the frame.
func (s *state) setsUp(o *op) bool {
	sp := s.regs[RSP]
	switch o.kind {
	case opPush:
		v := s.reg(o.src)
		if o.src == noReg && o.base != noReg {
			v = s.load(s.reg(o.base).plus(o.imm))
		}
		return s.worthSaving(v) || v.base == cfa
	case opStore:
		return o.width == 8 && s.reg(o.base).onStack() && s.worthSaving(s.reg(o.src))
	case opMove, opLea:
		if o.kind == opLea && o.dst == RSP {
			return o.base == RSP && o.imm < 0 && s.onSlot(sp)
		}
		from := o.src
		if o.kind == opLea {
			from = o.base
		}
		_, saved := s.savedAt(RBP)
		return from == RSP && (o.dst == RBP && saved || o.dst == R10 && sp == value{cfa, entrySP})
	case opAdd:
		return o.dst == RSP && o.imm < 0 && (s.onSlot(sp) || s.probing())
	case opSubReg:
		return o.dst == RSP && s.reg(o.src).base == constant // else it is alloca's, of the body
	case opAlign:
		return o.dst == RSP
	case opEnter:
		return true
	}
	return false
}

// worthSaving reports whether v is what the caller had in a register that calls
// preserve (or its return address, which a realigned frame copies).
func (s *state) worthSaving(v value) bool {
	r := v.base - entry
	if v.off != 0 || r < 0 || r > int32(RIP) || r < int32(nRegs) && calleeOK&(1<<r) == 0 {
		return false
	}
	if r == int32(RIP) {
		return true
	}
	_, saved := s.savedAt(trad.Reg(r))
	return !saved
}

// onSlot reports whether the stack holds nothing yet but what was saved.
func (s *state) onSlot(sp value) bool {
	for _, x := range s.slots {
		if x.at == sp {
			return true
		}
	}
	return sp.base >= fresh && sp.off == 0
}

// probing reports whether the frame is being made page by page: r11 holds the
// end that the loop goes to.
func (s *state) probing() bool { return s.regs[R11].base == cfa }

// probesAhead reports whether a call, which next stands behind, is of a routine
// that touches the pages of a large frame: it preserves rax, the frame's size,
// which next subtracts.
func (s *state) probesAhead(next *op) bool {
	return next.kind == opSubReg && next.dst == RSP && next.src == RAX && s.regs[RAX].base == constant
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
