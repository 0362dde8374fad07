package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Context is what a [Walker] knows of THIS frame: the context record of the
// Alpha calling standard's virtual unwinding (Digital UNIX Calling Standard
// for Alpha, section 7.2).
type Context struct {
	PC, SP, FP, RA      uint64
	HasSP, HasFP, HasRA bool // whether SP, FP and RA are known; RA only if the architecture has a link register
	// Caller says that PC is a return address. Tables are looked up at PC-1 then.
	Caller bool
	// Edge says that PC is in a prologue or an epilogue, where the frame is not yet, or no longer,
	// set up as in the body of the function. [Walker.First] and [Walker.Step] fill it in. On arm64
	// and s390x, other instructions within an epilogue may count as the body.
	Edge bool
	// MovedOn says that the process had moved on when the frame was read. It comes from
	// memory of another moment than the registers of frame 0 ([target.RunningMemory]).
	MovedOn bool

	live         *arch.Registers // of frame 0
	level        int
	walker       *Walker // that has numbered walk
	walk         uint64
	inCode       bool       // PC or PC-1 is in code, as unwindCached has seen
	stop         StopReason // why there is no PREVIOUS, once that is known
	next, beyond summary    // NEXT, and NEXT's NEXT
	stackChanged bool       // a frame has changed stacks: frames come from a Stack, which knows where it has been
	cycle        cycle
	search       search
}

// NewContext returns the context of frame 0. regs are its registers; they must not change
// until the walk is over. If PC or SP is not known, or regs is nil, the context's PC is 0
// and [Walker.Step] returns Unavailable.
func NewContext(a *arch.Arch, regs *arch.Registers) Context {
	var c Context
	c.start(a, regs)
	return c
}

func (c *Context) start(a *arch.Arch, regs *arch.Registers) StopReason {
	*c = Context{live: regs, next: summary{typ: Sentinel}, beyond: summary{typ: Sentinel}}
	if regs == nil || !regs.Known.Has(a.PC) || !regs.Known.Has(a.SP) {
		return Unavailable
	}
	c.PC = a.CodeAddress(regs.Value[a.PC])
	c.SP, c.HasSP = regs.Get(a.SP)
	c.FP, c.HasFP = regs.Get(a.FP)
	if a.RA != a.PC {
		c.RA, c.HasRA = regs.Get(a.RA)
	}
	return NoReason
}

// Step turns the context of THIS frame into the context of PREVIOUS, like exc_virtual_unwind. If
// there is no PREVIOUS, Step returns why, and does not change PC and the registers. If PREVIOUS
// would be THIS once more, only the step after says so ([SameID]). mem is the stack's memory, the
// same in all steps of a walk. The caller may step a copy of a context on its own, and contexts of
// several stacks in turns.
func (w *Walker) Step(c *Context, mem target.Memory) StopReason {
	if c.live == nil || !c.HasSP && c.level == 0 {
		return Unavailable
	}
	if c.stop != NoReason {
		return c.stop
	}
	if c.walker != w || c.walk != w.memoryOf {
		w.begin(c, mem)
	}
	var pc [1]uint64
	stop := NoReason
	for n, made := 0, false; n == 0 && !made && stop == NoReason; {
		if n, stop = w.unwindCached(c, pc[:], nil, 0); n == 0 {
			w.stepped = *c // so that c need not be on the heap
			stop, made = w.unwindAsStack(&w.stepped)
			*c = w.stepped
		}
	}
	c.noteLate()
	if c.stop = stop; stop != NoReason {
		return stop
	}
	c.Edge = w.edge(c, mem)
	return NoReason
}

// unwindAsStack unwinds one frame as a [Stack] does. made says that it has: then the context's next
// is what was THIS. made is false if a Stack would not have made the frame, as one that repeats
// NEXT, and stop says why; or if the row of THIS has just been cached, for unwindCached to apply:
// then stop is NoReason.
func (w *Walker) unwindAsStack(c *Context) (stop StopReason, made bool) {
	c.noteLate()
	s := w.enter(c)
	f, cached := w.claim(c)
	switch {
	case cached:
		return NoReason, false
	case f == nil:
		last := s.last()
		c.MovedOn = c.MovedOn || last.moved || last.late
		return last.stop, false
	case f.repeats(&c.cycle):
		return SameID, false
	}
	to, stop, _ := f.unwind()
	c.MovedOn = c.MovedOn || f.moved || f.late || s.window.takeLate()
	c.stackChanged = c.stackChanged || f.changesStack
	c.beyond, c.next = c.next, f.summary()
	if stop != NoReason {
		return stop, true
	}
	var ra Value
	if !to.caller && w.arch.RA != w.arch.PC {
		ra = f.prevRegister(w.arch.RA)
	}
	c.PC, c.SP, c.FP, c.RA = to.pc, to.sp.Bits, to.fp.Bits, ra.Bits
	c.HasSP, c.HasFP, c.HasRA = to.sp.Known(), to.fp.Known(), ra.Known()
	c.Caller, c.inCode = to.caller, false
	c.level++
	return NoReason, true
}

// enter prepares the Walker's Stack for the context's thread. It makes no frame yet.
func (w *Walker) enter(c *Context) *Stack {
	s := &w.stack
	if w.stackOf != c.walk {
		w.stackOf = c.walk
		s.live, s.preserved, s.stale = c.live, preserved{}, true
	}
	s.walk, s.search = c, &c.search
	return s
}

// claim makes THIS frame and asks the sniffers to claim it. It returns nil if the stack ends before
// THIS. After a change of stacks the frame is one of the Stack's, which knows where the stack has
// been. cached says that THIS is not claimed: its row has just been cached, for unwindCached to
// apply.
func (w *Walker) claim(c *Context) (f *Frame, cached bool) {
	if c.stackChanged {
		return w.stack.reach(c.level), false
	}
	f = &w.this
	if w.stack.slots != nil {
		w.stack.dropSlots(f)
	}
	if !w.ready {
		*f = Frame{stack: &w.stack, ofWalker: true, asked: true}
	}
	f.Level, f.pc, f.sp, f.spKnown, f.caller, f.inCode = c.level, c.PC, c.SP, c.HasSP, c.Caller, c.inCode
	if f.fp.Bits, f.fp.Lval = c.FP, NotKnown; c.HasFP {
		f.fp.Lval = Computed
	}
	if f.next = nil; c.level == 0 {
		f.next = &w.stack.sentinel
	}
	cached = f.sniff()
	w.ready = cached && (c.level == 0 || f.next == nil)
	if f.changesStack {
		return w.stack.reach(c.level), false
	}
	return f, cached
}

// noteLate sets c.MovedOn if memory of another moment was read since the last call of takeLate.
func (c *Context) noteLate() {
	if c.walker.stack.window.takeLate() {
		c.MovedOn = true
	}
}
