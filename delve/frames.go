//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
)

// frames returns the subject's frames as clients see them.
func (s *subject) frames(o *Options) (list []Frame, err error) {
	stack, err := s.stack()
	if err != nil {
		return nil, err
	}
	k := &delveStack{subject: s, opts: o, led: make(frameIndex)}
	k.languages = s.decorated(stack, false)
	next := "" // function of the frame that is shown before this one
	f, err := stack.Frame(0)
	for switched := false; f != nil; {
		name := k.function(f)
		prev, stop := f.Prev()
		if k.ends(name, stop) {
			prev, stop = nil, nil
		}
		if !k.hidden(next, name, f) {
			group := append(k.jumped(f), k.show(f)...)
			k.shown += len(group)
			if !switched {
				group = k.decorate(f, group)
			}
			list = append(list, group...)
			next = name
		}
		if n := len(list); n > 0 && prev == nil && stop == nil {
			list[n-1].Bottom = true
		}
		if len(list) > o.Depth {
			return k.load(list[:o.Depth+1])
		}
		this := f
		f, err = prev, stop
		if name == "runtime.systemstack" && !switched {
			if stack := k.switched(this); stack != nil {
				switched = true
				f, err = stack.Frame(0)
			}
		}
	}
	if err != nil {
		list = append(list, Frame{Stackframe: api.Stackframe{Err: err.Error(), Defers: []api.Defer{}}})
	}
	return k.load(list)
}

// function returns the name of the function of f; "" if the function is not Go's and Delve does
// not know it.
func (k *delveStack) function(f *frame.Frame) string {
	if fn := k.t.Proc.BinInfo().PCToFunc(block(f)); fn != nil {
		return strings.TrimSuffix(fn.Name, ".abi0") // as in the function table
	}
	return k.t.goFunction(block(f))
}

// goFunction returns the name of the Go function at pc, by Go's function table; "" if there is
// none. In some programs without DWARF, Delve does not find that table.
func (t *Target) goFunction(pc uint64) string {
	m := t.modules.Find(pc)
	if m == nil {
		return ""
	}
	table, bias, err := goruntime.Table(m)
	if err != nil {
		return ""
	}
	f, ok := table.Find(pc - bias)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(f.Name(), ".abi0")
}

// IsGo reports whether the code at the run-time address pc is of a Go function.
func (t *Target) IsGo(pc uint64) bool {
	if fn := t.Proc.BinInfo().PCToFunc(pc); fn != nil && fn.Name != "" { // Delve has no names for methods of C++
		return !isC(fn)
	}
	return t.goFunction(pc) != ""
}

// hidden reports whether Delve does not show f: the runtime's assembly around a function that it
// calls on another stack. next is the function of NEXT, name is the function of f.
func (k *delveStack) hidden(next, name string, f *frame.Frame) bool {
	switch next {
	case "runtime.newstack":
		return k.inGoroutine() && strings.HasPrefix(name, "runtime.morestack")
	case "runtime.sigtrampgo":
		return name == "runtime.sigtramp" || name == "runtime.cgoSigtramp" || f.Type() == frame.SigTramp
	}
	return false
}

// ends reports whether the stack ends at a frame of the function name, although the engine goes
// on, or stops with the error stop.
func (k *delveStack) ends(name string, stop error) bool {
	if k.inGoroutine() {
		return false
	}
	switch name {
	case "runtime.mcall", "runtime.morestack":
		return true // the goroutine that called these runs no more on this thread
	case "runtime.clone":
		var none *frame.StopError
		return errors.As(stop, &none) && none.Reason == frame.NoSavedPC // a new thread before its first instruction
	}
	return false
}

// show returns the calls inlined in f, and f last.
func (k *delveStack) show(f *frame.Frame) []Frame {
	if frames, exact := k.of(f); frames != nil && !unlined(frames) {
		return k.named(f, k.overlay(f, k.convert(f, frames, exact)))
	}
	return k.named(f, k.located(f))
}

// block returns an address inside the block that f executes: PC-1 for a caller.
func block(f *frame.Frame) uint64 {
	if f.Type() == frame.SigTramp {
		return f.PC() // the kernel has planted it, no call is before
	}
	return f.AddressInBlock()
}

// unlined reports whether Delve has no lines for the frame's code, because the program was linked
// without DWARF.
func unlined(frames []proc.Stackframe) bool {
	at := &frames[group(frames)-1].Call
	return at.Fn == nil || at.File == "" && at.Line == 0
}

// convert converts Delve's frames for f and the calls inlined in it. Unless exact is set, they
// describe the code of f alone, and f gives the frame's place.
func (k *delveStack) convert(f *frame.Frame, frames []proc.Stackframe, exact bool) []Frame {
	n := group(frames)
	list := make([]Frame, n)
	for i := range list {
		x := &frames[i]
		list[i] = Frame{
			Stackframe: api.Stackframe{
				Location:           shown(api.ConvertLocation(x.Call)),
				FrameOffset:        x.FrameOffset(),
				FramePointerOffset: x.FramePointerOffset(),
				Defers:             k.defers(x.Defers),
			},
			Physical: f, Inlined: x.Inlined, DelveFrames: frames[i:], subject: k.subject,
		}
		if !exact {
			list[i].FrameOffset, list[i].FramePointerOffset = k.offsets(f)
		}
	}
	return list
}

// offsets returns the CFA and the frame pointer of f: relative to the upper end of the
// goroutine's stack, or absolute if f is on another stack.
func (k *delveStack) offsets(f *frame.Frame) (cfa, fp int64) {
	at, _ := f.CFA()
	var base uint64
	if k.onGoroutine(at) {
		base = k.hi
	}
	if v := f.Register(k.t.arch.FP); v.Known() {
		fp = int64(v.Bits - base)
	}
	return int64(at - base), fp
}

// switched returns the stack that the goroutine has left in the frame systemstack, of
// runtime.systemstack; nil if it has left none. On that stack, the runtime plants a call of
// switchFunction, which Delve shows. The runtime may move that stack meanwhile; the frames on the
// thread's own stack do not show where to.
func (k *delveStack) switched(systemstack *frame.Frame) *frame.Stack {
	sp := systemstack.Register(k.t.arch.SP)
	if k.g == nil || !sp.Known() || k.onGoroutine(sp.Bits) || !k.onGoroutine(k.g.SP) {
		return nil
	}
	if fn := k.t.Proc.BinInfo().PCToFunc(k.g.PC); fn == nil || fn.Name != switchFunction {
		return nil
	}
	stack, err := frame.New(k.t, newParked(k.g, k.t.arch), k.t.Table)
	if err != nil {
		return nil
	}
	return stack
}
