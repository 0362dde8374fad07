package frame

import (
	"math"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// savedRegs says where each callee-saved register of THIS is, by Arch.OtherCalleeSavedIndex: 0
// means that it is live; an even number is the distance from Stack.base to where an inner frame has
// saved it; an odd number has the level of the inner frame whose row must be applied (askLevel).
// Most frames change few registers, so that most lookups need not go from frame to frame.
type savedRegs [arch.MaxOtherCalleeSaved]uint32

// askLevel returns the number that means: apply the row of the frame at a level.
func askLevel(level int) uint32 { return uint32(level)<<1 | 1 }

// savedOffset returns the number for a register that the frame at a level has saved at addr. It is
// askLevel's if addr's distance from s.base is odd, 0 or too large.
func (s *Stack) savedOffset(addr uint64, level int) uint32 {
	if at := addr - s.base; at&1 == 0 && at != 0 && at <= math.MaxUint32 {
		return uint32(at)
	}
	return askLevel(level)
}

// inherit sets prev.saved. THIS is prev's NEXT.
func (f *Frame) inherit(prev *Frame) {
	more := f.row.Others
	if more == nil && f.takeLaterRow() && f.later.ok {
		more = f.later.row.Others
	}
	if f.byUnwinder || more == nil || more.Default != trad.Same {
		for i := range prev.saved {
			prev.saved[i] = askLevel(f.Level)
		}
		return
	}
	prev.saved = f.saved
	for i := range more.Regs {
		x := &more.Regs[i]
		switch k := f.stack.arch.OtherCalleeSavedIndex(x.Reg); {
		case k < 0:
		case x.Rule.Kind == trad.Saved:
			prev.saved[k] = f.stack.savedOffset(x.Rule.At(f.cfa), f.Level)
		default:
			prev.saved[k] = askLevel(f.Level)
		}
	}
}

// calleeSaved returns the callee-saved register r of THIS; i is its index in savedRegs.
func (f *Frame) calleeSaved(r trad.Reg, i int) Value {
	switch k := f.saved[i]; {
	case k == 0:
		return f.stack.liveRegister(r)
	case k&1 == 0:
		return f.savedAt(r, f.stack.base+uint64(k))
	}
	return f.askSaver(r, i)
}

// askSaver is calleeSaved for a register that needs an inner frame's row. The row may say
// that the frame has not changed the register: then the search goes on inward.
func (f *Frame) askSaver(r trad.Reg, i int) Value {
	s, at := f.stack, f
	if !s.descend() {
		return Value{Err: errDeep}
	}
	var v Value
	for at.saved[i]&1 != 0 {
		saver := s.frame(int(at.saved[i] >> 1))
		if saver.dropped {
			// No frame between saver and lastDropped has changed the register.
			if v, _ = saver.known(r); v.Lval == InMemory {
				at.saved[i] = s.savedOffset(v.Addr, saver.Level)
			}
			break
		}
		var ok bool
		if v, ok = saver.byItsUnwinder(r); ok {
			break
		}
		reg, answer, inward := saver.applyRule(r)
		if inward && reg == r {
			at = saver
			continue
		}
		if v = answer; inward {
			v = saver.register(reg).narrow(s.arch, r)
		} else if v.Lval == InMemory {
			at.saved[i] = s.savedOffset(v.Addr, saver.Level)
		}
		break
	}
	switch k := at.saved[i]; {
	case k == 0:
		v = s.liveRegister(r)
	case k&1 == 0:
		v = s.sentinel.savedAt(r, s.base+uint64(k))
	}
	// The next query for the register need not go the same way.
	for x, found := f, at.saved[i]; x != at; {
		inner := s.frame(int(x.saved[i] >> 1))
		x.saved[i] = found
		x = inner
	}
	s.depth--
	return v
}
