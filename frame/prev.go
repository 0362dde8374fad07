package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// makePrev unwinds THIS.
func (f *Frame) makePrev() (prev *Frame, stop StopReason, err error) {
	s := f.stack
	if s.Limit > 0 && f.Level+1 >= s.Limit {
		return nil, Limit, nil
	}
	if f.Level < 0 {
		return f.first(), NoReason, nil
	}
	pc, sp, fp, stop, err := f.unwind()
	if s.window.takeLate() {
		f.late = true
	}
	if stop != NoReason {
		return nil, stop, f.why(stop, err)
	}
	prev = s.newFrame()
	prev.Level, prev.next = f.Level+1, f
	prev.caller = !f.interrupts()
	prev.moved = f.moved || f.late
	prev.pc, prev.fp = pc, fp
	prev.sp, prev.spKnown = sp.Bits, sp.Known()
	f.inherit(prev)
	prev.sniff()
	if prev.winner >= 0 && prev.again(&s.cycle) {
		f.late = f.late || prev.late
		s.made-- // prev is no frame of s
		return nil, SameID, prev.why(SameID, errSame)
	}
	return prev, NoReason, nil
}

// why returns what there is to say of THIS having no PREVIOUS. Where the thread has run
// on, that is the reason, and no damage.
func (f *Frame) why(stop StopReason, err error) error {
	if (f.moved || f.late) && !stop.Whole() {
		return errRanOn
	}
	return err
}

// interrupts reports whether PREVIOUS was interrupted and did not call THIS: its PC is
// where it was, and its link register its own. A debugger's call of a function interrupts.
func (f *Frame) interrupts() bool {
	return f.typ == SigTramp || f.typ == Dummy || f.row.Flags&trad.Injected != 0
}

// unwind returns the PC, SP and FP of PREVIOUS, or why there is none.
func (f *Frame) unwind() (pc uint64, sp, fp Value, stop StopReason, err error) {
	s := f.stack
	if f.winner < 0 {
		return 0, sp, fp, f.claimReason, f.claimErr
	}
	if f.row.Flags&trad.Outermost != 0 {
		return 0, sp, fp, Outermost, nil
	}
	if stop, err := f.checkID(); stop != NoReason {
		return 0, sp, fp, stop, err
	}
	if !f.ra.Known() {
		return 0, sp, fp, notKnownReason(f.ra), f.ra.Err
	}
	pc = s.arch.CodeAddress(f.ra.Bits)
	fp = f.prevFP()
	if pc == 0 && !f.interrupts() {
		if !f.late && f.endsChain(fp) {
			return 0, sp, fp, Outermost, nil
		}
		return 0, sp, fp, NoSavedPC, errZeroPC
	}
	return pc, f.prevSP(), fp, NoReason, nil
}

// prevFP is prevRegister(FP).
func (f *Frame) prevFP() Value {
	switch {
	case f.wide || f.Level == 0:
	case f.row.FP.Kind == trad.Same:
		return f.fp
	case f.row.FP.Kind == trad.Saved:
		return f.wordAt(f.row.FP.At(f.cfa))
	}
	return f.prevRegister(f.stack.arch.FP)
}

// prevSP is prevRegister(SP).
func (f *Frame) prevSP() Value {
	a := f.stack.arch
	if f.wide || f.row.More.Lists(a.SP) {
		return f.prevRegister(a.SP)
	}
	return Value{Bits: f.cfa + uint64(a.SPFromCFA), Lval: Computed}
}

// What the stop reasons leave open.
var (
	errZeroPC  = errors.New("the return address is 0")
	errInner   = errors.New("the frame lies inside the one that it called: corrupt stack?")
	errBack    = errors.New("the stack leads back to where it has been before it was changed: corrupt stack?")
	errSame    = errors.New("its caller would be the same frame again: corrupt stack?")
	errRanOn   = errors.New("the thread has run on")
	errNotCode = errors.New("nothing executable is mapped there: corrupt stack?")
)

// first makes frame 0 from the live registers.
func (f *Frame) first() *Frame {
	s := f.stack
	if s.gone > 0 {
		s.rewind()
		f.asked = true
	}
	f0 := s.newFrame()
	f0.next = f
	f0.pc = s.arch.CodeAddress(s.live.Value[s.arch.PC])
	f0.sp, f0.spKnown = s.live.Get(s.arch.SP)
	f0.fp = f.prevFP()
	f0.sniff()
	return f0
}

// checkID holds THIS against its NEXT: between two normal frames the stack must
// have grown outward. A signal handler's stack may lie anywhere, and so may the
// one that a frame of type arch leads to.
func (f *Frame) checkID() (StopReason, error) {
	s := f.stack
	if u, ok := f.unwinder(); ok {
		if id, err := u.ThisID(f); err != nil || id.Null() {
			return NullID, err
		}
	}
	next := f.inside()
	if f.typ == Normal && next.typ == Normal && s.arch.InnerThan(f.cfa, next.cfa) {
		return InnerID, errInner
	}
	if s.left.turns > 0 && !f.apart && f.typ == Normal && s.left.holds(f.cfa) {
		return InnerID, errBack
	}
	// Where the return address is saved at the CFA, there is no more stack than memory.
	if f.typ == Normal && f.row.RA.Kind != trad.Saved && f.Level%64 == 63 {
		if _, err := s.readWord(f.cfa - uint64(s.arch.PtrSize)); err != nil {
			return MemoryError, fmt.Errorf("at the CFA there is no stack: %w", err)
		}
	}
	return NoReason, nil
}

// again reports whether THIS is its NEXT once more, or has been before: c knows. The outermost
// frame is none, though it may need no stack: where it has aligned SP, its CFA is what SP was
// when it called.
func (f *Frame) again(c *cycle) bool {
	next := f.inside()
	switch {
	case f.row.Flags&trad.Outermost != 0:
		return false
	case f.typ == SigTramp || f.typ == Arch:
		return c.seen(f.cfa, f.pc)
	case f.typ != next.typ || f.cfa != next.cfa:
		return false
	case f.pc == next.pc:
		return true
	}
	// A call that pushes its return address leaves no room for two frames at one
	// CFA. Elsewhere one frame that needs no stack may stand before another.
	beyond := f.beyond()
	return f.stack.arch.RAOffset != 0 || beyond.typ == Normal && beyond.cfa == f.cfa
}

func notKnownReason(v Value) StopReason {
	var mem *readError
	switch {
	case errors.As(v.Err, &mem):
		return MemoryError
	case v.Lval == NotSaved:
		return NoSavedPC
	}
	return Unavailable
}
