package amd64

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
	entry    = 16           // entry+r: the value of DWARF register r on entry
	fresh    = entry + 64   // fresh+i: rsp as the instruction at offset i left it
	ra       = entry + 16   // the return address is the entry value of column RIP
	maxSlots = 32           // slots that a state remembers
	lowestSP = -1 << 30     // depth at which following the stack ends
	noCall   = int32(-1)    // no call before this on the straight path
	intact   = int32(-1)    // the frame is not being torn down
	entrySP  = -8           // rsp on entry is CFA-8
	nRegs    = int(R15) + 1 // registers that a state follows
	calleeOK = 1<<RBX | 1<<RBP | 1<<RSP | 1<<R12 | 1<<R13 | 1<<R14 | 1<<R15
)

// onStack reports whether the value is an address in the frame.
func (v value) onStack() bool { return v.base == cfa || v.base >= fresh }

func (v value) plus(n int32) value {
	if sum := int64(v.off) + int64(n); v.base != unknown && sum >= lowestSP && sum <= math.MaxInt32 {
		return value{v.base, int32(sum)}
	}
	return value{}
}

func entryOf(r trad.Reg) value { return value{base: entry + int32(r)} }

// A slot is a stack word, at address at, that holds something worth to know.
type slot struct{ at, val value }

// A state is what is known before an instruction is executed.
type state struct {
	regs  [nRegs]value
	slots []slot // never changed in place: states share it
	// compared is the register that the last instruction compared with rsp.
	compared trad.Reg
	call     int32 // offset of the call that the straight path came through last, or noCall
	justCall bool  // nothing but no-operations since that call
	teardown int32 // offset of the first of the instructions that tear the frame down, or intact
	guess    bool
}

// entryState is the state at a function's first instruction.
func entryState() state {
	s := state{compared: noReg, call: noCall, teardown: intact}
	for r := range s.regs {
		s.regs[r] = entryOf(trad.Reg(r))
	}
	s.regs[RSP] = value{cfa, entrySP}
	s.slots = []slot{{value{cfa, -8}, value{base: ra}}}
	return s
}

// exec executes one instruction, at offset at of the code, that goes on to the next.
func (s *state) exec(o *op, at int32) {
	compared := s.compared
	s.compared = noReg
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
	case opPush:
		v := s.reg(o.src)
		if o.src == noReg && o.base != noReg {
			v = s.load(s.reg(o.base).plus(o.imm))
		}
		s.push(v, at)
	case opCallNext:
		s.push(value{}, at)
	case opPop:
		v := s.load(s.regs[RSP])
		s.set(RSP, s.regs[RSP].plus(8), at)
		if o.dst != noReg {
			s.set(o.dst, v, at)
		}
	case opMove:
		s.set(o.dst, s.reg(o.src), at)
	case opConst:
		s.set(o.dst, value{constant, o.imm}, at)
	case opLea:
		s.set(o.dst, s.reg(o.base).plus(o.imm), at)
	case opLoad:
		s.set(o.dst, s.load(s.reg(o.base).plus(o.imm)), at)
	case opStore:
		s.store(s.reg(o.base).plus(o.imm), int32(o.width), s.reg(o.src))
	case opAdd:
		s.set(o.dst, s.reg(o.dst).plus(o.imm), at)
	case opAddReg, opSubReg:
		v := value{}
		if n := s.reg(o.src); n.base == constant && n.off != math.MinInt32 {
			if o.kind == opSubReg {
				n.off = -n.off
			}
			v = s.reg(o.dst).plus(n.off)
		}
		s.set(o.dst, v, at)
	case opSwap:
		a, b := s.reg(o.dst), s.reg(o.src)
		s.set(o.dst, b, at)
		s.set(o.src, a, at)
	case opAlign:
		s.set(o.dst, value{}, at)
	case opLeave:
		v := s.load(s.regs[RBP])
		s.set(RSP, s.regs[RBP].plus(8), at)
		s.set(RBP, v, at)
	case opEnter:
		s.push(s.regs[RBP], at)
		s.set(RBP, s.regs[RSP], at)
		s.set(RSP, s.regs[RSP].plus(-o.imm), at)
	case opCompare:
		switch RSP {
		case o.dst:
			s.compared = o.src
		case o.src:
			s.compared = o.dst
		}
	case opBranchNE:
		// Not taken, so what was compared is equal: how a loop that probes the
		// pages of a large frame ends.
		if compared != noReg && s.reg(compared).onStack() {
			s.set(RSP, s.reg(compared), at)
		}
	case opCall:
		for r := range s.regs {
			if calleeOK&(1<<r) == 0 {
				s.regs[r] = value{}
			}
		}
		s.call, s.justCall = at, true
	}
}

func (s *state) reg(r trad.Reg) value {
	if int(r) < nRegs {
		return s.regs[r]
	}
	return value{}
}

// set gives a register a value. A stack pointer that is not known gets a name of
// its own, so that what is pushed from there on can be told apart.
func (s *state) set(r trad.Reg, v value, at int32) {
	if int(r) >= nRegs {
		return
	}
	if r != RSP {
		s.regs[r] = v
		return
	}
	if !v.onStack() {
		v = value{base: fresh + at}
		s.forget(v.base)
	}
	// What is below the stack pointer now is dead.
	if v.base != s.regs[RSP].base || v.off > s.regs[RSP].off {
		dead := func(x slot) bool { return x.at.base == v.base && x.at.off < v.off }
		if slices.ContainsFunc(s.slots, dead) {
			s.slots = slices.DeleteFunc(slices.Clone(s.slots), dead)
		}
	}
	s.regs[RSP] = v
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

func (s *state) push(v value, at int32) {
	s.set(RSP, s.regs[RSP].plus(-8), at)
	s.store(s.regs[RSP], 8, v)
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
func (s *state) store(at value, width int32, v value) {
	if !at.onStack() {
		return
	}
	hit := func(x slot) bool {
		return x.at.base == at.base && int64(x.at.off) < int64(at.off)+int64(width) && int64(at.off) < int64(x.at.off)+8
	}
	keep := width == 8 && (v.base == cfa || v.base == ra || v.base >= entry && v.base < entry+int32(nRegs) && v.off == 0 && calleeOK&(1<<(v.base-entry)) != 0)
	if !keep && !slices.ContainsFunc(s.slots, hit) {
		return
	}
	next := slices.DeleteFunc(slices.Clone(s.slots), hit)
	if keep && len(next) < maxSlots {
		next = append(next, slot{at, v})
	}
	s.slots = next
}

// markTeardown notes where a run of instructions begins that take down the stack
// and restore registers. Others that leave the stack alone may stand in between.
func (s *state) markTeardown(o *op, at int32) {
	switch {
	case o.tearsDown() || o.kind == opLoad && calleeOK&bit(o.dst) != 0 && s.load(s.reg(o.base).plus(o.imm)) == entryOf(o.dst):
		if s.teardown == intact {
			s.teardown = at
		}
	case !o.harmless():
		s.teardown = intact
	}
}

// tearsDown reports whether an instruction moves the stack pointer up.
func (o *op) tearsDown() bool {
	switch o.kind {
	case opPop, opLeave:
		return true
	case opAdd:
		return o.dst == RSP && o.imm > 0
	case opLea:
		return o.dst == RSP && (o.base != RSP || o.imm > 0)
	case opMove:
		return o.dst == RSP && o.src == RBP
	}
	return false
}

// harmless reports whether an instruction changes no register that calls
// preserve, stores nothing at a known address, and goes on to the next.
func (o *op) harmless() bool {
	switch o.kind {
	case opOther:
		return o.kill&calleeOK == 0
	case opMove, opConst, opLea, opLoad, opAdd, opAddReg, opSubReg:
		return calleeOK&bit(o.dst) == 0
	}
	return false
}

// merge makes s true also for a path that arrives with state t, and reports
// whether that changed it.
func (s *state) merge(t *state) (changed bool) {
	for r := range s.regs {
		if s.regs[r] != t.regs[r] && s.regs[r].base != unknown {
			s.regs[r], changed = value{}, true
		}
	}
	lost := func(x slot) bool { return t.load(x.at) != x.val }
	if slices.ContainsFunc(s.slots, lost) {
		s.slots, changed = slices.DeleteFunc(slices.Clone(s.slots), lost), true
	}
	if s.compared != t.compared && s.compared != noReg {
		s.compared, changed = noReg, true
	}
	if s.teardown != t.teardown && s.teardown != intact {
		s.teardown, changed = intact, true
	}
	// A path without the call confirms what the call's return told; of two calls
	// the first is the one that both paths depend on.
	if s.call > t.call {
		s.call, changed = t.call, true
	}
	if s.justCall && (!t.justCall || s.call != t.call) {
		s.justCall, changed = false, true
	}
	return changed
}

// contradicts reports whether no compiler's frame can be in both states at one
// instruction: one of the two paths is never taken.
func (s *state) contradicts(t *state) bool {
	a, b := s.regs[RSP], t.regs[RSP]
	if a.base == cfa && b.base == cfa && a.off != b.off {
		return true
	}
	for _, r := range [...]trad.Reg{RBP, RBX, R12, R13, R14, R15} {
		if s.reg(r) == entryOf(r) && t.reg(r) == entryOf(r) {
			continue // it may have been saved on one path, and have its value back
		}
		ra, okA := s.savedAt(r)
		rb, okB := t.savedAt(r)
		if okA == okB && ra == rb {
			continue
		}
		// A register other than rbp may be lost on a path, which says nothing of the others.
		if r == RBP || (okA || s.reg(r) == entryOf(r)) && (okB || t.reg(r) == entryOf(r)) {
			return true
		}
	}
	return false
}

// savesAgain reports whether a store puts a register over what the caller had in it: the register
// was saved there before, and has another value now.
func (s *state) savesAgain(o *op) bool {
	return o.width == 8 && calleeOK&bit(o.src) != 0 && s.reg(o.src) != entryOf(o.src) && s.load(s.reg(o.base).plus(o.imm)) == entryOf(o.src)
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
