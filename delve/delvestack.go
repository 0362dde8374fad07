//go:build linux && (amd64 || arm64)

package delve

import (
	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// delveStack is a subject's stack as Delve walks it. It may lack frames, or have wrong ones.
type delveStack struct {
	*subject
	opts  *Options
	all   []proc.Stackframe // Delve's frames
	found frameIndex        // index of all
	last  frameKey          // the last of our frames that was found in all
	shown int               // how many of our frames were converted so far, hidden ones among them
	depth int               // the depth that Delve was asked for
	ended bool              // all is Delve's whole stack
	led   frameIndex        // index of the stacks that [delveStack.lead] has made

	languages *language.Decorated // what languages say of the stack; nil for nothing
	left      int                 // how many of our frames languages hide so far
}

// of returns Delve's frames for the physical frame f: the calls inlined in it, f, and its callers.
// There are none if Delve does not know the code of f. exact reports whether frames describe f
// itself, and come from Delve's own stack.
func (k *delveStack) of(f *frame.Frame) (frames []proc.Stackframe, exact bool) {
	if k.own != nil {
		return nil, false
	}
	cfa, _ := f.CFA()
	at := frameKey{f.PC(), cfa}
	frames = k.find(at)
	change := changesStack(k.function(f))
	if frames == nil && change {
		if next := k.behind(); len(next) > 0 && next[group(next)-1].Current.PC == at.pc {
			frames = next
		}
	}
	if frames != nil {
		physical := &frames[group(frames)-1]
		astray := k.opts.Defers && k.lost(frames) || !change && k.mistaken(frames, cfa)
		k.last = frameKey{physical.Current.PC, uint64(physical.Regs.CFA)}
		if !astray {
			return frames, true
		}
		// Delve takes one stack for another here, or gives this frame the deferred calls of
		// a frame that it has lost.
		if led := k.ledTo(f, at); led != nil {
			return led, false
		}
		return frames, change
	}
	return k.ledTo(f, at), false
}

// ledTo returns Delve's frames for f from the stacks that Delve was led to, or leads Delve
// to f.
func (k *delveStack) ledTo(f *frame.Frame, at frameKey) []proc.Stackframe {
	if frames := k.led[at]; frames != nil && !k.mistaken(frames, at.cfa) {
		return frames
	}
	return k.lead(f, at)
}

// lost reports whether Delve's own stack has other frames between the last frame that was found
// in it and frames.
func (k *delveStack) lost(frames []proc.Stackframe) bool {
	next := k.behind()
	return k.shown > 0 && (len(next) == 0 || &next[0] != &frames[0])
}

// behind returns Delve's own stack behind the last frame that was found in it.
func (k *delveStack) behind() []proc.Stackframe {
	if k.shown == 0 {
		return k.all
	}
	frames := k.found[k.last]
	return frames[group(frames):]
}

// changesStack reports whether a function changes stacks. Delve and the engine may have
// different CFAs for its frame.
func changesStack(function string) bool {
	switch function {
	case "runtime.systemstack", "runtime.mcall", "runtime.morestack", "runtime.asmcgocall", "runtime.cgocallback":
		return true
	}
	return false
}

// find looks for a frame in Delve's own stack, and asks Delve for more of the stack as needed.
func (k *delveStack) find(at frameKey) []proc.Stackframe {
	for {
		if found := k.found[at]; found != nil {
			return found
		}
		// For a C function that does not return, Delve has the address before.
		if found := k.found[frameKey{at.pc - 1, at.cfa}]; found != nil && isC(found[group(found)-1].Current.Fn) {
			return found
		}
		// Delve may find a broken stack endless: ask for no more frames than can be needed.
		depth := min(2*k.shown+62, k.opts.Depth+1+k.left)
		if k.ended || depth <= k.depth {
			return nil
		}
		k.depth = depth
		frames, err := k.ask(k.depth)
		k.ended = err != nil || len(frames) <= k.depth
		k.found = make(frameIndex, len(frames)) // the old entries lack callers
		k.found.add(frames)
		k.all = frames
	}
}

// ask asks Delve for its stack, of at most depth+1 frames.
func (k *delveStack) ask(depth int) ([]proc.Stackframe, error) {
	switch {
	case k.g == nil:
		return proc.ThreadStacktrace(k.t.Proc, k.thread, depth)
	case k.opts.Defers:
		return proc.GoroutineStacktrace(k.t.Proc, k.g, depth, proc.StacktraceReadDefers)
	}
	return proc.GoroutineStacktrace(k.t.Proc, k.g, depth, 0)
}

// ledFrames is how many frames [delveStack.lead] asks Delve for.
const ledFrames = 30

// lead has Delve walk from a frame f that is not in Delve's own stack. It gives Delve a copy of
// the goroutine that is parked in a function that f has just called.
func (k *delveStack) lead(f *frame.Frame, at frameKey) []proc.Stackframe {
	a, bi := k.t.arch, k.t.Proc.BinInfo()
	sp, fp := f.Register(a.SP), f.Register(a.FP)
	if k.g == nil || !sp.Known() || bi.PCToFunc(block(f)) == nil {
		return nil
	}
	g := *k.g
	g.Thread = nil
	g.SystemStack = !k.onGoroutine(at.cfa)
	g.PC, g.SP, g.BP, g.LR = at.pc, sp.Bits, fp.Bits, 0
	if block(f) != f.PC() {
		callee := bi.LookupFunc()[switchFunction]
		if len(callee) != 1 {
			return nil
		}
		g.PC, g.LR = callee[0].Entry, at.pc
		if a.RAOffset != 0 {
			g.SP += uint64(int64(a.RAOffset))
			var b [8]byte
			if _, err := k.t.memory.ReadMemory(g.SP, b[:]); err != nil || a.Order.Uint64(b[:]) != at.pc {
				return nil // the return address is not where a call would have pushed it
			}
		}
	}
	// Delve's cache is keyed by the goroutine's ID, and unused if there is an option.
	opts := proc.StacktraceSimple
	if k.opts.Defers {
		opts |= proc.StacktraceReadDefers
	}
	frames, err := proc.GoroutineStacktrace(k.t.Proc, &g, ledFrames, opts)
	if err != nil {
		return nil
	}
	if block(f) != f.PC() {
		frames = frames[group(frames):]
	}
	if len(frames) == 0 {
		return nil
	}
	physical := &frames[group(frames)-1]
	if pc := physical.Current.PC; physical.Err != nil || pc != at.pc && pc != at.pc-1 {
		return nil
	}
	if uint64(physical.Regs.CFA) == at.cfa {
		k.led.add(frames)
	}
	return frames
}

// switchFunction is a function without a frame, which Delve does not treat specially where
// [delveStack.lead] uses it.
const switchFunction = "runtime.systemstack_switch"
