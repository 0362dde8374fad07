package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Context is what a [Walker] knows of THIS frame while it walks: the context record
// of the Alpha calling standard's virtual unwinding (Digital UNIX Calling Standard
// for Alpha, section 7.2).
type Context struct {
	PC, SP, FP, RA      uint64
	HasSP, HasFP, HasRA bool // whether SP, FP and RA are known; RA is where the architecture has a link register
	// Caller says that PC is a return address: tables are looked up at PC-1.
	Caller bool
	// Edge says that PC is in a prologue or an epilogue: where the frame is not yet,
	// or no longer, set up as in the body of the function. [Walker.Step] fills it in.
	// On arm64 and s390x, what else is done among the instructions of an epilogue may be
	// taken for the body.
	Edge bool
	// MovedOn says that the process had moved on when this was read: it comes from memory
	// of another moment than the registers of frame 0 (target.RunningMemory).
	MovedOn bool

	live         *arch.Registers // of frame 0
	level        int
	walker       *Walker // that has made walk
	walk         uint64
	inCode       bool       // PC or PC-1 is in code, as unwindCached has seen
	stop         StopReason // why there is no PREVIOUS, once that is known
	next, beyond summary    // the frame that THIS called, and the one that that called
	stackChanged bool       // the stack has been changed: frames come from a whole Stack, which knows where it has been
	cycle        cycle
	search       search
}

// NewContext returns the context of the frame that a register file is of. The file
// must not change until the walk is over. The context is not valid, and its PC 0,
// where PC or SP is not known; nil is a file without registers.
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

// Step makes the context of THIS frame that of PREVIOUS, like exc_virtual_unwind.
// Where there is no PREVIOUS it leaves PC and the registers and says why; that
// PREVIOUS would be THIS once more ([SameID]) shows in the step after. mem is the
// stack's memory, the same in all steps of a walk. A copy of a context may be stepped
// on its own, and contexts of several stacks in turns.
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
			w.stepped = *c // c need not be on the heap
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

// unwindAsStack unwinds one frame as a [Stack] does; then made is true, and the context's next is what
// was THIS. It is false where the frame is the one before once more, so that a Stack would not
// have made it, and where its row has been cached, for unwindCached to apply: then stop is NoReason.
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

// enter makes the walker's Stack one of the context's thread. Its frames are made when one is
// asked for.
func (w *Walker) enter(c *Context) *Stack {
	s := &w.stack
	if w.stackOf != c.walk {
		w.stackOf = c.walk
		s.live, s.preserved, s.stale = c.live, preserved{}, true
	}
	s.walk, s.search = c, &c.search
	return s
}

// claim makes THIS frame and has it claimed; nil where the stack ends before. Where the stack is
// changed, the frame is one of the chain, which knows where the stack has been.
func (w *Walker) claim(c *Context) (f *Frame, cached bool) {
	if c.stackChanged {
		return w.stack.reach(c.level), false
	}
	f = &w.this
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

// noteLate notes in the context whether something was read since it was asked last that is
// of another moment.
func (c *Context) noteLate() {
	if c.walker.stack.window.takeLate() {
		c.MovedOn = true
	}
}
