package frame

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// A step leads from THIS to PREVIOUS. It begins with the [state] of THIS, asks the sniffers to
// claim THIS (Frame.sniff), checks it against the inner frames (repeats, checkID), and ends with
// the state of PREVIOUS, or with the reason why there is none (unwind). A [Stack] takes steps along
// its chain and keeps a Frame for each; a [Walker] takes them in one Frame, from [Context] to
// Context.

// state is what is known of a frame before it is claimed.
type state struct {
	pc     uint64
	sp, fp Value
	caller bool // pc is a return address
}

// begin sets the level and the state of THIS, which is empty.
func (f *Frame) begin(level int, from *state) {
	f.Level, f.caller = level, from.caller
	f.pc, f.fp = from.pc, from.fp
	f.sp, f.spKnown = from.sp.Bits, from.sp.Known()
}

// makePrev makes PREVIOUS, or says why there is none.
func (f *Frame) makePrev() (prev *Frame, stop StopReason, err error) {
	s := f.stack
	if s.Limit > 0 && f.Level+1 >= s.Limit {
		return nil, Limit, nil
	}
	if f.Level < 0 {
		return f.first(), NoReason, nil
	}
	to, stop, err := f.unwind()
	if s.window.takeLate() {
		f.late = true
	}
	if stop != NoReason {
		return nil, stop, f.why(stop, err)
	}
	prev = s.newFrame()
	prev.begin(f.Level+1, &to)
	prev.next = f
	prev.moved = f.moved || f.late
	f.inherit(prev)
	prev.sniff()
	if prev.repeats(&s.cycle) {
		f.late = f.late || prev.late
		s.made-- // prev is no frame of s
		s.dropSlots(prev)
		return nil, SameID, prev.why(SameID, errSame)
	}
	return prev, NoReason, nil
}

// why returns the detail of the reason why THIS has no PREVIOUS. If the thread has run on, that
// is the reason, and the stack need not be corrupt.
func (f *Frame) why(stop StopReason, err error) error {
	if (f.moved || f.late) && !stop.Whole() {
		return errRanOn
	}
	return err
}

// interrupts reports whether PREVIOUS was interrupted and did not call THIS. Then its PC is no
// return address, and its link register its own. A debugger's call of a function interrupts, too.
func (f *Frame) interrupts() bool {
	return f.typ == SigTramp || f.typ == Dummy || f.row.Flags&trad.Injected != 0
}

// unwind returns the state of PREVIOUS, or why there is none.
func (f *Frame) unwind() (to state, stop StopReason, err error) {
	if f.winner < 0 {
		return to, f.claimReason, f.claimErr
	}
	if f.row.Flags&trad.Outermost != 0 {
		return to, Outermost, nil
	}
	if stop, err := f.checkID(); stop != NoReason {
		return to, stop, err
	}
	if !f.ra.Known() {
		return to, notKnownReason(f.ra), f.ra.Err
	}
	to.pc, to.fp, to.caller = f.stack.arch.CodeAddress(f.ra.Bits), f.prevFP(), !f.interrupts()
	if to.pc == 0 && to.caller {
		if !f.late && f.zeroEndsStack(to.fp) {
			return to, Outermost, nil
		}
		return to, NoSavedPC, errZeroPC
	}
	to.sp = f.prevSP()
	return to, NoReason, nil
}

// prevFP is prevRegister(FP).
func (f *Frame) prevFP() Value {
	switch {
	case f.byUnwinder || f.Level == 0:
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
	if f.byUnwinder || f.row.Others.Lists(a.SP) {
		return f.prevRegister(a.SP)
	}
	return Value{Bits: f.cfa + uint64(a.SPFromCFA), Lval: Computed}
}

// Details of stop reasons.
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
	if s.nDropped > 0 {
		s.rewind()
		f.asked = true
	}
	f0 := s.newFrame()
	f0.next = f
	a := s.arch
	f0.begin(0, &state{pc: a.CodeAddress(s.live.Value[a.PC]), sp: s.liveRegister(a.SP), fp: s.liveRegister(a.FP)})
	f0.sniff()
	return f0
}

// checkID checks THIS against its NEXT: of two normal frames, the outer one must not be the
// inner one on the stack. A signal handler's stack may lie anywhere, and so may the
// stack that a frame of type OtherStack leads to.
func (f *Frame) checkID() (StopReason, error) {
	s := f.stack
	if u, ok := f.unwinder(); ok {
		if id, err := f.thisID(u); err != nil || id.Null() {
			return NullID, err
		}
	}
	next := f.nextSummary()
	if f.typ == Normal && next.typ == Normal && s.arch.InnerThan(f.cfa, next.cfa) {
		return InnerID, errInner
	}
	if s.visited.changes > 0 && !f.ofWalker && f.typ == Normal && s.visited.holds(f.cfa) {
		return InnerID, errBack
	}
	// If each return address is read from the stack, the stack ends where memory does. Else it
	// must be checked from time to time.
	if f.typ == Normal && f.row.RA.Kind != trad.Saved && f.Level%64 == 63 {
		if _, err := s.readWord(f.cfa - uint64(s.arch.PtrSize)); err != nil {
			return MemoryError, fmt.Errorf("at the CFA there is no stack: %w", err)
		}
	}
	return NoReason, nil
}

// repeats reports whether THIS is its NEXT once more, or, for a frame after which the stack may lie
// anywhere, whether c has seen it. The outermost frame never repeats, though its CFA may be its
// NEXT's: if it has aligned SP, its CFA is what SP was when it called.
func (f *Frame) repeats(c *cycle) bool {
	next := f.nextSummary()
	switch {
	case f.Level == 0 || f.winner < 0 || f.row.Flags&trad.Outermost != 0:
		return false
	case f.typ != Normal:
		return c.seen(f.cfa, f.pc)
	case f.typ != next.typ || f.cfa != next.cfa:
		return false
	case f.pc == next.pc:
		return true
	}
	// If calls push the return address, two frames cannot have one CFA. Else one frame
	// that needs no stack may call a function, but not two such in a row.
	beyond := f.beyondSummary()
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
