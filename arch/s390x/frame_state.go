package s390x

import (
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// A value is what a register or a stack slot holds: base+off, where base says of
// what. Values are the same exactly if base and off are.
type value struct{ base, off int32 }

const (
	unknown  = 0            // not followed; off is 0
	constant = 1            // the number off
	cfa      = 2            // CFA+off
	behind   = 3            // the address behind the call at offset off of the code
	entry    = 16           // entry+r: the value of DWARF register r on entry
	fresh    = entry + 64   // fresh+i: r15 as the instruction at offset i left it
	maxSlots = 40           // slots that a state remembers
	lowestSP = -1 << 30     // depth at which following the stack ends
	noCall   = int32(-1)    // no call before this on the straight path
	intact   = int32(-1)    // the frame is not being torn down
	entrySP  = -saveArea    // r15 on entry, from the CFA
	nRegs    = int(F15) + 1 // registers that a state follows

	// Sets of registers: the link register, which a call changes; those that it
	// preserves; and all whose values on entry PREVIOUS wants back.
	linkBit  uint32 = 1 << R14
	calleeOK uint32 = 1<<R6 | 1<<R7 | 1<<R8 | 1<<R9 | 1<<R10 | 1<<R11 | 1<<R12 | 1<<R13 | 1<<R15 | 0xff<<F8
	tracked         = calleeOK | linkBit
)

// onStack reports whether the value is an address in the frame.
func (v value) onStack() bool { return v.base == cfa || v.base >= fresh }

func (v value) plus(n int32) value {
	if sum := int64(v.off) + int64(n); v.base != unknown && v.base != behind && sum >= lowestSP && sum <= math.MaxInt32 {
		return value{v.base, int32(sum)}
	}
	return value{}
}

// sum returns v+w, of which one must be a constant.
func (v value) sum(w value) value {
	switch {
	case w.base == constant:
		return v.plus(w.off)
	case v.base == constant:
		return w.plus(v.off)
	}
	return value{}
}

func entryOf(r trad.Reg) value { return value{base: entry + int32(r)} }

// tracks reports whether v is the entry value of one of the registers in set.
func (v value) tracks(set uint32) bool {
	r := v.base - entry
	return v.off == 0 && r >= 0 && r < int32(nRegs) && set&(1<<r) != 0
}

// worth reports whether a store of a value and width is to be remembered.
func (v value) worth(width uint16) bool {
	return width == 8 && (v.base == cfa || v.tracks(tracked))
}

// A slot is a stack word, at address at, that holds something worth to know.
type slot struct{ at, val value }

// A state is what is known before an instruction is executed.
type state struct {
	regs  [nRegs]value
	slots []slot // never changed in place: states share it
	// compared are the registers that the last instruction compared.
	compared [2]trad.Reg
	call     int32 // offset of the call that the straight path came through last, or noCall
	justCall bool  // nothing but no-operations since that call
	teardown int32 // offset of the first of the instructions that tear the frame down, or intact
	guess    bool
}

var nothing = [2]trad.Reg{noReg, noReg}

// entryState is the state at a function's first instruction.
func entryState() state {
	s := state{compared: nothing, call: noCall, teardown: intact}
	for r := range s.regs {
		s.regs[r] = entryOf(trad.Reg(r))
	}
	s.regs[R15] = value{cfa, entrySP}
	return s
}

// exec executes one instruction, at offset at of the code, that goes on to the next.
func (s *state) exec(o *op, at int32) {
	compared := s.compared
	s.compared = nothing
	s.markTeardown(o, at)
	if !o.nop {
		s.justCall = false
	}
	for r := range s.regs {
		if o.kill&(1<<r) != 0 {
			s.set(trad.Reg(r), value{}, at)
		}
	}
	switch o.kind {
	case opMove:
		s.set(o.dst, s.reg(o.src), at)
	case opConst:
		s.set(o.dst, value{constant, o.imm}, at)
	case opLea:
		v := s.reg(o.base)
		if o.src != noReg {
			v = v.sum(s.reg(o.src))
		}
		s.set(o.dst, v.plus(o.imm), at)
	case opSub:
		v := value{}
		if n := s.reg(o.src); n.base == constant && n.off != math.MinInt32 {
			v = s.reg(o.base).plus(-n.off)
		}
		s.set(o.dst, v, at)
	case opLoad:
		s.set(o.dst, s.load(s.reg(o.base).plus(o.imm)), at)
	case opLoads:
		from := s.reg(o.base).plus(o.imm)
		for r, i := o.dst, int32(0); ; r, i = (r+1)&15, i+8 {
			s.set(r, s.load(from.plus(i)), at)
			if r == o.last {
				break
			}
		}
	case opStore:
		// Another base may be a pointer that is only at first where it is known to
		// be, in a loop that fills memory.
		if v := s.reg(o.src); o.base == R15 || o.base == R11 && s.regs[R11] == s.regs[R15] || v.worth(o.width) {
			s.store(s.reg(o.base).plus(o.imm), o.width, v)
		}
	case opStores:
		to := s.reg(o.base).plus(o.imm)
		for r, i := o.dst, int32(0); ; r, i = (r+1)&15, i+8 {
			s.store(to.plus(i), 8, s.reg(r))
			if r == o.last {
				break
			}
		}
	case opCompare:
		s.compared = [2]trad.Reg{o.dst, o.src}
	case opBranchNE:
		// Not taken, so what was compared is equal: how a loop that probes the pages
		// of a large frame ends.
		if o.dst != noReg {
			compared = [2]trad.Reg{o.dst, o.src}
		}
		a, b := s.reg(compared[0]), s.reg(compared[1])
		if compared[0] == R15 && b.onStack() {
			s.set(R15, b, at)
		} else if compared[1] == R15 && a.onStack() {
			s.set(R15, a, at)
		}
	case opCall:
		s.called(at)
	}
}

// called is what a call leaves: the registers that it preserves, and the stack
// but for the register save area that it may use.
func (s *state) called(at int32) {
	// Go's functions copy r14 to r5 for the routine that makes the stack larger,
	// which restores it. They have no frame yet.
	_, saved := s.savedAt(R14)
	keepsLink := s.regs[R5] == entryOf(R14) && s.regs[R14] == entryOf(R14) && s.regs[R15] == value{cfa, entrySP} && !saved
	for r := range s.regs {
		if calleeOK&(1<<r) == 0 {
			s.regs[r] = value{}
		}
	}
	sp := s.regs[R15]
	s.regs[R14] = value{behind, at}
	if keepsLink {
		s.regs[R14] = entryOf(R14)
	}
	given := func(x slot) bool {
		return x.at.base == sp.base && x.at.off >= sp.off && x.at.off < sp.off+saveArea && x.at.off != sp.off
	}
	if slices.ContainsFunc(s.slots, given) {
		s.slots = slices.DeleteFunc(slices.Clone(s.slots), given)
	}
	s.call, s.justCall = at, true
}

func (s *state) reg(r trad.Reg) value {
	if int(r) < nRegs {
		return s.regs[r]
	}
	return value{}
}

// set gives a register a value. A stack pointer that is not known gets a name of
// its own, so that what is stored from there on can be told apart.
func (s *state) set(r trad.Reg, v value, at int32) {
	if int(r) >= nRegs {
		return
	}
	if r != R15 {
		s.regs[r] = v
		return
	}
	if !v.onStack() {
		v = value{base: fresh + at}
		s.forget(v.base)
	}
	// What is below the stack pointer now is dead.
	if v.base != s.regs[R15].base || v.off > s.regs[R15].off {
		dead := func(x slot) bool { return x.at.base == v.base && x.at.off < v.off }
		if slices.ContainsFunc(s.slots, dead) {
			s.slots = slices.DeleteFunc(slices.Clone(s.slots), dead)
		}
	}
	s.regs[R15] = v
}

// forget drops what is known relative to an earlier stack pointer of that name.
func (s *state) forget(base int32) {
	for r := range s.regs {
		if s.regs[r].base == base {
			s.regs[r] = value{}
		}
	}
	stale := func(x slot) bool { return x.at.base == base || x.val.base == base }
	if slices.ContainsFunc(s.slots, stale) {
		s.slots = slices.DeleteFunc(slices.Clone(s.slots), stale)
	}
}

func (s *state) load(at value) value {
	for _, x := range s.slots {
		if x.at == at {
			return x.val
		}
	}
	return value{}
}

// store notes a write of width bytes at an address. Where the address is not
// known the slots stay: compiled code does not overwrite them that way.
func (s *state) store(at value, width uint16, v value) {
	if !at.onStack() {
		return
	}
	hit := func(x slot) bool {
		return x.at.base == at.base && int64(x.at.off) < int64(at.off)+int64(width) && int64(at.off) < int64(x.at.off)+8
	}
	keep := v.worth(width)
	if !keep && !slices.ContainsFunc(s.slots, hit) {
		return
	}
	next := slices.DeleteFunc(slices.Clone(s.slots), hit)
	if keep && len(next) < maxSlots {
		next = append(next, slot{at, v})
	}
	s.slots = next
}

// savedAt returns the address of the slot that has a register's entry value: the
// one at a known distance from the CFA if there are two.
func (s *state) savedAt(r trad.Reg) (at value, ok bool) {
	for _, x := range s.slots {
		if x.val == entryOf(r) && (!ok || x.at.base == cfa && at.base != cfa) {
			at, ok = x.at, true
		}
	}
	return at, ok
}

// keeps reports whether a register's entry value is in a slot or in another
// register, a floating-point one.
func (s *state) keeps(r trad.Reg) bool {
	if _, saved := s.savedAt(r); saved {
		return true
	}
	for f := F0; f <= F15; f++ {
		if f != r && s.regs[f] == entryOf(r) {
			return true
		}
	}
	return false
}
