package arm64

import (
	"math"
	"slices"
)

// A value is what a register or a stack slot holds: base+off, where base says of
// what. Values are the same exactly if base and off are.
type value struct{ base, off int32 }

const (
	unknown  = 0          // not followed; off is 0
	constant = 1          // the number off
	cfa      = 2          // CFA+off
	behind   = 3          // the address behind the call at offset off of the code
	entry    = 16         // entry+r: the value of register r on entry
	fresh    = entry + 64 // fresh+i: sp as the instruction at offset i left it
	maxSlots = 40         // slots that a state remembers
	lowestSP = -1 << 30   // depth at which following the stack ends
	noCall   = int32(-1)  // no call before this on the straight path
	intact   = int32(-1)  // the frame is not being torn down
	entrySP  = 0          // sp on entry, from the CFA

	// Sets of registers: the link register, which a call changes; those that it
	// preserves; and all whose values on entry PREVIOUS wants back.
	linkBit  uint64 = 1 << x30
	calleeOK uint64 = (1<<30 - 1<<19) | 1<<rsp | 0xff<<(v0+8)
	tracked         = calleeOK | linkBit

	// Registers that a call need not preserve, and gives no result in: x9 to x15. What reads
	// one of them behind a call knows that the function called leaves it alone, as a compiler
	// does of one in the same file (gcc's -fipa-ra), which keeps the size of a large frame so.
	noResult uint64 = 1<<16 - 1<<9
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

func entryOf(r reg) value { return value{base: entry + int32(r)} }

// tracks reports whether v is the entry value of one of the registers in set.
func (v value) tracks(set uint64) bool {
	r := v.base - entry
	return v.off == 0 && r >= 0 && r < nRegs && set&(1<<r) != 0
}

// worth reports whether a store of a value and width is to be remembered.
func (v value) worth(width uint8) bool {
	return width == 8 && (v.base == cfa || v.tracks(tracked))
}

// A slot is a stack word, at address at, that holds something worth to know.
type slot struct{ at, val value }

// A state is what is known before an instruction is executed.
type state struct {
	regs     [nRegs]value
	slots    []slot // never changed in place: states share it
	compared [2]reg // that the last instruction compared
	signed   bool   // x30, or where it is saved, has a pointer authentication code
	call     int32  // offset of the call that the straight path came through last, or noCall
	justCall bool   // nothing but no-operations since that call
	teardown int32  // offset of the first of the instructions that tear the frame down, or intact
	guess    bool
}

var nothing = [2]reg{noReg, noReg}

// entryState is the state at a function's first instruction.
func entryState() state {
	s := state{compared: nothing, call: noCall, teardown: intact}
	for r := range s.regs {
		s.regs[r] = entryOf(reg(r))
	}
	s.regs[rsp] = value{cfa, entrySP}
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
	for r := reg(0); r < nRegs && o.kill>>r != 0; r++ {
		if o.kill>>r&1 != 0 {
			s.set(r, value{}, at)
		}
	}
	switch o.kind {
	case opMove:
		s.set(o.dst, s.reg(o.src), at)
	case opConst:
		s.set(o.dst, value{constant, o.imm}, at)
	case opKeep:
		w := value{}
		if old := s.reg(o.dst); old.base == constant && o.shift < 32 {
			n := int64(old.off)&^(0xffff<<o.shift) | int64(o.imm)<<o.shift
			if n >= math.MinInt32 && n <= math.MaxInt32 {
				w = value{constant, int32(n)}
			}
		}
		s.set(o.dst, w, at)
	case opLea:
		w := s.reg(o.base)
		if o.src != noReg {
			w = w.sum(s.reg(o.src))
		}
		s.set(o.dst, w.plus(o.imm), at)
	case opSub:
		w := value{}
		if n := s.reg(o.src); n.base == constant && n.off != math.MinInt32 {
			w = s.reg(o.base).plus(-n.off)
		}
		s.set(o.dst, w, at)
	case opLoad:
		from := s.address(o)
		w, w2 := value{}, value{}
		if o.width == 8 {
			w, w2 = s.load(from), s.load(from.plus(8))
		}
		s.moveBase(o, at)
		s.set(o.dst, w, at)
		s.set(o.dst2, w2, at)
	case opStore:
		to := s.address(o)
		w, w2 := s.reg(o.dst), s.reg(o.dst2)
		s.moveBase(o, at) // first: what is stored is not below the stack pointer
		// Another base may be a pointer that is only at first where it is known to
		// be, in a loop that fills memory.
		if o.base == rsp || o.base == x29 && s.keeps(x29) || w.worth(o.width) || w2.worth(o.width) {
			s.store(to, o.width, w)
			if o.dst2 != noReg {
				s.store(to.plus(int32(o.width)), o.width, w2)
			}
		}
	case opSign:
		s.signed = !s.signed
	case opCompare:
		if o.dst != noReg {
			s.compared = [2]reg{o.dst, o.src}
		}
	case opBranchNE:
		// Not taken, so what was compared is equal: how a loop that probes the pages
		// of a large frame ends.
		a, b := s.reg(compared[0]), s.reg(compared[1])
		if compared[0] == rsp && b.onStack() {
			s.set(rsp, b, at)
		} else if compared[1] == rsp && a.onStack() {
			s.set(rsp, a, at)
		}
	case opCall:
		s.called(at)
	}
}

// address is that of a load or store.
func (s *state) address(o *op) value {
	w := s.reg(o.base).plus(o.imm)
	if o.pre {
		w = w.plus(o.writeback)
	}
	return w
}

// moveBase does the write-back of a load or store.
func (s *state) moveBase(o *op, at int32) {
	if o.writeback != 0 {
		s.set(o.base, s.reg(o.base).plus(o.writeback), at)
	}
}

// called is what a call leaves: the registers that it preserves, and the stack.
func (s *state) called(at int32) {
	for r := range s.regs {
		if calleeOK&(1<<r) == 0 && !(noResult&(1<<r) != 0 && s.regs[r].base == constant) {
			s.regs[r] = value{}
		}
	}
	s.regs[x30] = value{behind, at}
	s.call, s.justCall = at, true
}

func (s *state) reg(r reg) value {
	if r < nRegs {
		return s.regs[r]
	}
	return value{}
}

// set gives a register a value. A stack pointer that is not known gets a name of
// its own, so that what is stored from there on can be told apart.
func (s *state) set(r reg, v value, at int32) {
	if r >= nRegs {
		return
	}
	if r != rsp {
		s.regs[r] = v
		return
	}
	if !v.onStack() {
		v = value{base: fresh + at}
		s.forget(v.base)
	}
	// What is below the stack pointer now is dead.
	if v.base != s.regs[rsp].base || v.off > s.regs[rsp].off {
		dead := func(x slot) bool { return x.at.base == v.base && x.at.off < v.off }
		if slices.ContainsFunc(s.slots, dead) {
			s.slots = slices.DeleteFunc(slices.Clone(s.slots), dead)
		}
	}
	s.regs[rsp] = v
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
func (s *state) store(at value, width uint8, v value) {
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
func (s *state) savedAt(r reg) (at value, ok bool) {
	for _, x := range s.slots {
		if x.val == entryOf(r) && (!ok || x.at.base == cfa && at.base != cfa) {
			at, ok = x.at, true
		}
	}
	return at, ok
}

// keeps reports whether a register's entry value is in a slot or in another
// register.
func (s *state) keeps(r reg) bool {
	if _, saved := s.savedAt(r); saved {
		return true
	}
	for f := range s.regs {
		if reg(f) != r && s.regs[f] == entryOf(r) {
			return true
		}
	}
	return false
}
