package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
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
	// of another moment than the registers of frame 0 (target.Mover).
	MovedOn bool

	live         *arch.Registers // of frame 0
	level        int
	walker       *Walker // that has made walk
	walk         uint64
	stop         StopReason // why there is no PREVIOUS, once that is known
	next, beyond place      // the frame that THIS called, and the one that that called
	left         bool       // the stack has been changed: frames come from a whole Stack, which knows where it has been
	cycle        cycle
	search       search
}

// place is as much of an inner frame as an outer one is held against.
type place struct {
	pc, cfa uint64
	typ     Type
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
	*c = Context{live: regs, next: place{typ: Sentinel}, beyond: place{typ: Sentinel}}
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
	if c.walker != w || c.walk != w.current {
		w.begin(c, mem)
	}
	var pc [1]uint64
	n, stop := w.fast(c, pc[:], nil, 0)
	if n == 0 {
		stop, _ = w.slow(c)
	}
	c.noteLate()
	if c.stop = stop; stop != NoReason {
		return stop
	}
	c.Edge = w.edge(c, mem)
	return NoReason
}

// slow unwinds one frame as a [Stack] does. made is false where the frame is the one
// before once more, so that a Stack would not have made it; else the context's next
// is what was THIS.
func (w *Walker) slow(c *Context) (stop StopReason, made bool) {
	f := w.frame(c)
	if f == nil {
		c.MovedOn = c.MovedOn || w.last.moved || w.last.late
		return w.last.stop, false
	}
	if c.level > 0 && f.winner >= 0 && w.again(c, f) {
		return SameID, false
	}
	this := place{pc: f.pc, typ: f.typ}
	if f.winner >= 0 {
		this.cfa = f.cfa
	}
	pc, sp, fp, stop, _ := f.unwind()
	c.MovedOn = c.MovedOn || f.moved || f.late || f.stack.window.takeLate()
	if w.one.missed && f == &w.frames[0] {
		// A register of PREVIOUS is in one that is not known here.
		if whole := w.replay(c); whole != nil {
			f = whole
			pc, sp, fp, stop, _ = f.unwind()
			c.MovedOn = c.MovedOn || f.moved || f.late || f.stack.window.takeLate()
		}
	}
	c.left = c.left || f.left
	c.beyond, c.next = c.next, this
	if stop != NoReason {
		return stop, true
	}
	var ra Value
	if f.interrupts() && w.arch.RA != w.arch.PC {
		ra = f.prevRegister(w.arch.RA)
	}
	c.PC, c.SP, c.FP, c.RA = pc, sp.Bits, fp.Bits, ra.Bits
	c.HasSP, c.HasFP, c.HasRA = sp.Known(), fp.Known(), ra.Known()
	c.Caller = !f.interrupts()
	c.level++
	return NoReason, true
}

// frame makes THIS frame, knowing no more registers than the context has, and has it
// claimed. If that took a register that is not known, the frame comes from a whole
// stack; nil where that has found that there is no such frame.
func (w *Walker) frame(c *Context) *Frame {
	if c.left {
		return w.replay(c)
	}
	s, a := &w.one, w.arch
	if s.query.Memory == nil {
		s.window.start(w.window.memory, a)
		s.query = w.query
		s.query.Memory = &s.window
	}
	if c.level == 0 {
		s.live = *c.live
	} else {
		s.live.Known = arch.RegSet{}
		s.live.Set(a.PC, c.PC)
		w.know(a.FP, c.FP, c.HasFP)
		w.know(a.SP, c.SP, c.HasSP)
		if a.RA != a.PC {
			w.know(a.RA, c.RA, c.HasRA)
		}
	}
	s.cycle, s.search = c.cycle, c.search
	s.missed = false
	f, next, beyond := &w.frames[0], &w.frames[1], &w.frames[2]
	*beyond = Frame{Level: -1, stack: s, typ: c.beyond.typ, winner: -1}
	beyond.cfa = c.beyond.cfa
	*next = Frame{Level: -1, stack: s, next: beyond, typ: c.next.typ, pc: c.next.pc, winner: -1}
	next.cfa = c.next.cfa
	next.ra = Value{Bits: c.PC, Lval: Computed}
	*f = Frame{Level: c.level, stack: s, next: next, caller: c.Caller, pc: c.PC, sp: c.SP, spKnown: c.HasSP}
	f.fp = next.prevRegister(a.FP)
	s.missed = false // that FP is not known is no question yet
	f.sniff()
	if _, wide := f.unwinder(); s.missed || wide {
		return w.replay(c) // what was looked at is looked at once more
	}
	c.search = s.search
	return f
}

func (w *Walker) know(r trad.Reg, v uint64, known bool) {
	if known {
		w.one.live.Set(r, v)
	}
}

// again reports whether THIS is its NEXT once more, and remembers it in the context.
func (w *Walker) again(c *Context, f *Frame) bool {
	if f.stack != &w.one {
		// A whole stack has looked already; only the memory of signal frames is here.
		return (f.typ == SigTramp || f.typ == Arch) && c.cycle.seen(f.cfa, f.pc)
	}
	again := f.again(f.next)
	c.cycle = w.one.cycle
	return again
}

// replay returns THIS frame from a whole stack of the thread, where every register
// is unwound; nil where the stack ends before.
func (w *Walker) replay(c *Context) *Frame {
	s := w.whole
	if s == nil || w.serial != c.walk || c.level < s.gone { // a copy of a context may be far behind
		if s == nil {
			s = &Stack{table: w.table, modules: w.modules, arch: w.arch, forgets: true}
			w.whole = s
		}
		s.live = *c.live
		s.start(w.window.memory)
		w.serial, w.last = c.walk, &s.sentinel
	}
	s.search = c.search
	defer func() { c.search = s.search }()
	for w.last.Level < c.level {
		prev, _ := w.last.Prev()
		if prev == nil {
			return nil
		}
		w.last = prev
	}
	return s.frame(c.level) // w.last, but for a copy of a context that is behind
}

// noteLate notes in the context whether something was read since it was asked last that is
// of another moment.
func (c *Context) noteLate() {
	if c.walker.window.takeLate() {
		c.MovedOn = true
	}
}
