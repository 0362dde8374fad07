//go:build linux && (amd64 || arm64)

package delve

import (
	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/frame"
)

// delveStack has what Delve knows of a subject's frames.
type delveStack struct {
	*subject
	opts  *Options
	all   []proc.Stackframe // the stack as Delve has it
	found frameIndex        // the same
	last  frameKey          // the last frame that was found in it
	shown int               // how many frames were found so far
	depth int               // how deep Delve was asked for it
	ended bool              // Delve has no more of it
	led   frameIndex        // what Delve has of frames that it was led to
}

// of returns a physical frame as Delve has it, what is inlined in it first, and its
// callers behind it. There are none where Delve does not know the frame's code. exact is
// whether it is that very frame in Delve's own stack.
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
		// Delve takes one stack for another here; or gives this frame what one that it has
		// lost has deferred.
		if led := k.elsewhere(f, at); led != nil {
			return led, false
		}
		return frames, change
	}
	return k.elsewhere(f, at), false
}

// elsewhere looks for a frame where Delve was led to before, or leads it there.
func (k *delveStack) elsewhere(f *frame.Frame, at frameKey) []proc.Stackframe {
	if frames := k.led[at]; frames != nil && !k.mistaken(frames, at.cfa) {
		return frames
	}
	return k.lead(f, at)
}

// lost reports whether Delve's own stack does not have frames directly behind the last that
// was found in it.
func (k *delveStack) lost(frames []proc.Stackframe) bool {
	next := k.behind()
	return k.shown > 0 && (len(next) == 0 || &next[0] != &frames[0])
}

// behind returns what Delve's own stack has behind the last frame that was found in it.
func (k *delveStack) behind() []proc.Stackframe {
	if k.shown == 0 {
		return k.all
	}
	frames := k.found[k.last]
	return frames[group(frames):]
}

// changesStack reports whether a function's frame is between two stacks. There are two
// opinions of what its CFA is.
func changesStack(function string) bool {
	switch function {
	case "runtime.systemstack", "runtime.mcall", "runtime.morestack", "runtime.asmcgocall", "runtime.cgocallback":
		return true
	}
	return false
}

// find looks for a frame in Delve's own stack, asking for more of that as needed.
func (k *delveStack) find(at frameKey) []proc.Stackframe {
	for {
		if found := k.found[at]; found != nil {
			return found
		}
		// Of a C function that does not return, Delve has the address before.
		if found := k.found[frameKey{at.pc - 1, at.cfa}]; found != nil && isC(found[group(found)-1].Current.Fn) {
			return found
		}
		// A broken stack may be endless to Delve: no more is asked for than can be needed.
		depth := min(2*k.shown+62, k.opts.Depth+1)
		if k.ended || depth <= k.depth {
			return nil
		}
		k.depth = depth
		frames, err := k.ask(k.depth)
		k.ended = err != nil || len(frames) <= k.depth
		k.found = make(frameIndex, len(frames)) // what was found before lacks callers
		k.found.add(frames)
		k.all = frames
	}
}

// ask asks Delve for its stack.
func (k *delveStack) ask(depth int) ([]proc.Stackframe, error) {
	switch {
	case k.g == nil:
		return proc.ThreadStacktrace(k.t.Proc, k.thread, depth)
	case k.opts.Defers:
		return proc.GoroutineStacktrace(k.t.Proc, k.g, depth, proc.StacktraceReadDefers)
	}
	return proc.GoroutineStacktrace(k.t.Proc, k.g, depth, 0)
}

// ledFrames is how many frames Delve is asked for where it was led to one.
const ledFrames = 30

// lead has Delve begin a stack just inside a frame that it has not found by itself: in
// a goroutine like this, parked in a function that has just been called from there.
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
				return nil // the call has not pushed what would be returned to
			}
		}
	}
	// Delve's cache goes by the goroutine's ID, and is asked only where there is no option.
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

// switchFunction is a function that needs no stack, and that Delve does not take to be
// anything that it is not.
const switchFunction = "runtime.systemstack_switch"
