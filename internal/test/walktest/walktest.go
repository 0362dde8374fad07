// Package walktest compares the fast walk over a stack (frame.Walker) with the debugger's
// (frame.Stack): tests of sniffers and targets have it walk each of their stacks both ways. It also
// makes modules of files that no process has mapped.
package walktest

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// Checker walks stacks of one target by both walkers.
type Checker struct {
	// Limit is the most frames that are walked of a stack; 0 means no limit.
	Limit int

	table  *frame.Table
	walker *frame.Walker
	pcs    []uint64
	cfas   []uint64
}

// New makes a checker of a target's stacks, by the sniffers of a table.
func New(modules *target.Modules, table *frame.Table) *Checker {
	return &Checker{table: table, walker: frame.NewWalker(modules, table)}
}

// SetModules makes the checker one for the stacks of another target. It forgets all rows.
func (c *Checker) SetModules(modules *target.Modules) {
	c.table.Reset()
	c.walker.SetModules(modules)
	c.walker.Reset()
}

// Check walks a thread's stack by frame.Stack and, in many ways, by frame.Walker: with an empty
// cache and with a full one, over memory that lends nothing and memory that lends little, into
// buffers that are just long enough and too short, and step by step. It returns where they differ.
// Every frame, its CFA, SP and FP, whether it was interrupted, and the stop reason must be equal.
func (c *Checker) Check(tg target.Target, th target.Thread) error {
	stack, err := frame.New(tg, th, c.table)
	if err != nil {
		return err
	}
	stack.Limit = c.Limit
	var frames []*frame.Frame
	for f, err := range stack.All() {
		if err == nil {
			frames = append(frames, f)
		}
	}
	stop := stack.Sentinel().StopReason()
	if n := len(frames); n > 0 {
		stop = frames[n-1].StopReason()
	}
	var regs arch.Registers
	if err := th.Registers(&regs); err != nil {
		return err
	}
	room, full := len(frames)+1, stop
	switch stop {
	case frame.Limit:
		room--
	case frame.SameID:
		full = frame.Limit // if pcs is full, the walker has not looked at PREVIOUS
	}
	c.walker.Reset()
	mem := target.MemoryOf(tg, th)
	for _, way := range []struct {
		name string
		mem  target.Memory
	}{{"an empty cache", mem}, {"a filled cache", mem}, {"plain memory", plain{mem}}, {"small windows", windows{plain{mem}}}, {"pages", pages{plain{mem}}}} {
		if err := c.walk(way.mem, &regs, frames, room, stop); err != nil {
			return fmt.Errorf("walker with %s: %w", way.name, err)
		}
	}
	if err := c.walk(mem, &regs, frames, len(frames), full); err != nil {
		return fmt.Errorf("walker with room for all frames and no more: %w", err)
	}
	if n := len(frames) / 2; n > 0 {
		if err := c.walk(mem, &regs, frames[:n], n, frame.Limit); err != nil {
			return fmt.Errorf("walker of %d frames: %w", n, err)
		}
	}
	for _, m := range []target.Memory{mem, windows{plain{mem}}} {
		if err := c.steps(tg.Arch(), m, &regs, frames, stop); err != nil {
			return fmt.Errorf("walker step by step: %w", err)
		}
	}
	return nil
}

// plain is a memory that is no [target.CopiedMemory].
type plain struct{ target.Memory }

// windows is a memory that lends so little that a window often ends between the two
// words of a frame record, and sometimes within one.
type windows struct{ plain }

func (w windows) Window(addr uint64) (lo uint64, data []byte) {
	lo = addr - min(addr, addr>>3%19)
	data = make([]byte, 33)
	n, _ := w.ReadMemory(lo, data)
	return lo, data[:n]
}

// pages is a memory that lends the page that an address is on.
type pages struct{ plain }

func (p pages) Window(addr uint64) (lo uint64, data []byte) {
	const size = 4096
	data = make([]byte, size)
	for _, lo := range []uint64{addr &^ (size - 1), addr} { // the page may not be there from its beginning on
		if n, _ := p.ReadMemory(lo, data[:size-lo%size]); uint64(n) > addr-lo {
			return lo, data[:n]
		}
	}
	return 0, nil
}

func (c *Checker) walk(mem target.Memory, regs *arch.Registers, frames []*frame.Frame, room int, want frame.StopReason) error {
	for len(c.pcs) < room {
		c.pcs, c.cfas = append(c.pcs, 0), append(c.cfas, 0)
	}
	n, stop := c.walker.WalkCFA(regs, mem, c.pcs[:room], c.cfas[:room])
	for i := range min(n, len(frames)) {
		cfa, known := frames[i].CFA()
		if !known {
			cfa = 0
		}
		if frames[i].PC() != c.pcs[i] || cfa != c.cfas[i] {
			return fmt.Errorf("frame %d: PC %#x CFA %#x, the stack has %#x, %#x by %q", i, c.pcs[i], c.cfas[i], frames[i].PC(), cfa, frames[i].Sniffer())
		}
	}
	if n != len(frames) || stop != want {
		return fmt.Errorf("%d frames, stop %q; the stack has %d, stop %q", n, stop, len(frames), want)
	}
	return c.checkInterrupted(frames)
}

// checkInterrupted compares which frames of the last walk are behind no call, and the addresses to
// look up.
func (c *Checker) checkInterrupted(frames []*frame.Frame) error {
	var got, want []int
	for _, at := range c.walker.Interrupted() {
		if at >= len(frames) {
			return fmt.Errorf("frame %d of %d was interrupted", at, len(frames))
		}
		if frames[at].PC() != 0 { // a frame there does not tell
			got = append(got, at)
		}
	}
	for i, f := range frames {
		if block(f) == f.PC() && f.PC() != 0 {
			want = append(want, i)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("frames %v were interrupted, on the stack %v", got, want)
	}
	c.walker.AddressesInBlock(c.pcs[:len(frames)])
	for i, f := range frames {
		if c.pcs[i] != block(f) {
			return fmt.Errorf("frame %d is looked up at %#x, on the stack at %#x", i, c.pcs[i], block(f))
		}
	}
	return nil
}

// block returns the address at which a frame is looked up in symbols, as logical.Frame's
// AddressInBlock.
func block(f *frame.Frame) uint64 {
	if f.Type() == frame.SigTramp {
		return f.PC() // no call is before it
	}
	return f.AddressInBlock()
}

// uncalled reports whether a frame is at an address from which no call was made, although NEXT is
// no signal frame: the stack ends there, or a function begins there. Only asking for the frame
// shows that; the context before it does not tell.
func uncalled(f *frame.Frame) bool {
	return f.AddressInBlock() == f.PC() && f.Next() != nil && f.Next().Type() == frame.Normal
}

func (c *Checker) steps(a *arch.Arch, mem target.Memory, regs *arch.Registers, frames []*frame.Frame, want frame.StopReason) error {
	ctx := frame.NewContext(a, regs)
	for i, f := range frames {
		sp, fp := f.Register(a.SP), f.Register(a.FP)
		if ctx.PC != f.PC() || ctx.HasSP != sp.Known() || ctx.SP != sp.Bits || ctx.HasFP != fp.Known() || ctx.FP != fp.Bits ||
			ctx.Caller != (f.AddressInBlock() != f.PC()) && !uncalled(f) {
			return fmt.Errorf("frame %d: context %+v, the stack has %v SP %v FP %v", i, ctx, f, sp, fp)
		}
		// A context need not keep a caller's link register.
		if ra := f.Register(a.RA); a.RA != a.PC && (ctx.HasRA && (!ra.Known() || ctx.RA != ra.Bits) || !ctx.Caller && ctx.HasRA != ra.Known()) {
			return fmt.Errorf("frame %d: context %+v, the stack has %v RA %v", i, ctx, f, ra)
		}
		before := ctx
		if i == len(frames)-1 && want == frame.Limit {
			return nil
		}
		stop := c.walker.Step(&ctx, mem)
		if i == len(frames)-1 && want == frame.SameID && stop == frame.NoReason {
			stop = c.walker.Step(&ctx, mem) // the walker looks at PREVIOUS only now
		}
		if last := i == len(frames)-1; last != (stop != frame.NoReason) || last && stop != want {
			return fmt.Errorf("frame %d of %d: stop %q, the stack has %q", i, len(frames), stop, want)
		}
		if stop != frame.NoReason && want != frame.SameID && (ctx.PC != before.PC || ctx.SP != before.SP || ctx.FP != before.FP || ctx.Caller != before.Caller) {
			return fmt.Errorf("frame %d, the last: the step beyond it changes the context %+v to %+v", i, before, ctx)
		}
	}
	if before := ctx; len(frames) > 0 && (c.walker.Step(&ctx, mem) != want || ctx != before) {
		return fmt.Errorf("a step beyond the end changes the context, or does not say %q once more", want)
	}
	return nil
}
