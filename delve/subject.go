//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target"
)

// subject is the goroutine or thread of an [Owner], at one stop of the process.
type subject struct {
	t      *Target
	g      *proc.G              // nil for a thread that runs no goroutine
	own    *goroutine.Goroutine // a goroutine that Delve does not find; nil if g is not, and for a thread
	thread proc.Thread          // nil for a goroutine that no thread runs
	lo, hi uint64               // the goroutine's stack: lo < CFA <= hi; both 0 if not known
}

// subject finds the goroutine or thread of owner.
func (t *Target) subject(owner Owner) (s *subject, err error) {
	if _, err := t.Proc.Valid(); err != nil {
		return nil, err
	}
	s = &subject{t: t}
	switch {
	case owner.isThread:
		th, ok := t.Proc.FindThread(owner.thread)
		if !ok {
			return nil, fmt.Errorf("%v: the process has no such thread", owner)
		}
		s.thread = th
		// An error says that the thread runs no goroutine, or that Delve finds no goroutines in
		// the program. The thread's stack can be walked all the same.
		s.g, _ = proc.GetG(th)
	default:
		if owner.goroutine > 0 && t.goroutines.runtime != nil {
			err = proc.ErrNoRuntimeAllG // Delve would ask each thread
		} else {
			s.g, err = proc.FindGoroutine(t.Proc, owner.goroutine)
		}
		if errors.Is(err, proc.ErrNoRuntimeAllG) {
			if s.own, err = t.FindGoroutine(owner.goroutine); err != nil {
				return nil, err
			}
			if s.own.Thread != 0 {
				s.thread, _ = t.Proc.FindThread(s.own.Thread)
			}
			break
		}
		if err != nil {
			return nil, err
		}
		if s.g == nil {
			s.thread = t.Proc.CurrentThread()
			break
		}
		if s.g.Unreadable != nil {
			return nil, fmt.Errorf("%v: %w", owner, s.g.Unreadable)
		}
		if s.thread = s.g.Thread; s.thread == nil && s.g.Status&^scanning == proc.Grunning && s.g.SP == 0 {
			if s.thread = t.runnerOf(s.g.ID); s.thread == nil {
				return nil, fmt.Errorf("%v: it runs, and on no thread that Delve has: "+
					"Delve misses threads that begin while it attaches; attach again", owner)
			}
		}
	}
	t.memory.forget()
	s.lo, s.hi = s.bounds()
	return s, nil
}

// runnerOf returns the thread of which the runtime knows that it runs a goroutine; nil if there is
// none. Delve asks the threads instead, and a thread that is about to go on with a goroutine does
// not say so.
func (t *Target) runnerOf(goroutine int64) proc.Thread {
	g, err := t.FindGoroutine(goroutine)
	if err != nil || g.Thread == 0 {
		return nil
	}
	th, _ := t.Proc.FindThread(g.Thread)
	return th
}

// bounds returns the range of the goroutine's stack, from the first two words of its g.
func (s *subject) bounds() (lo, hi uint64) {
	if s.own != nil {
		return s.own.Lo, s.own.Hi
	}
	if s.g == nil {
		return 0, 0
	}
	v, err := s.scope(proc.Stackframe{}).EvalExpression("runtime.curg", proc.LoadConfig{})
	if err != nil || v.Addr == 0 {
		return 0, 0
	}
	var b [16]byte
	if _, err := s.t.memory.ReadMemory(v.Addr, b[:]); err != nil {
		return 0, 0
	}
	lo, hi = s.t.arch.Order.Uint64(b[:]), s.t.arch.Order.Uint64(b[8:])
	if sp := s.g.SP; lo >= hi || sp != 0 && (sp < lo || sp > hi) {
		return 0, 0 // broken, or half written: the runtime is moving the stack
	}
	return lo, hi
}

// mistaken reports whether Delve takes the goroutine's own stack for the thread's, or the other
// way round, at the physical frame at the head of frames. cfa is the engine's CFA.
func (s *subject) mistaken(frames []proc.Stackframe, cfa uint64) bool {
	return s.hi != 0 && frames[group(frames)-1].SystemStack == s.onGoroutine(cfa)
}

// inGoroutine reports whether the stack is of a goroutine, or of a thread that runs one.
func (s *subject) inGoroutine() bool { return s.g != nil || s.own != nil }

// onGoroutine reports whether a frame with this CFA lies on the goroutine's own stack.
func (s *subject) onGoroutine(cfa uint64) bool { return s.lo < cfa && cfa <= s.hi }

// stack returns the engine's stack.
func (s *subject) stack() (*frame.Stack, error) {
	var th target.Thread
	switch {
	case s.thread != nil:
		th = &thread{s.thread, s.t.arch}
	case s.g != nil:
		th = newParked(s.g, s.t.arch)
	case s.own != nil && !s.own.Parked():
		return nil, fmt.Errorf("goroutine %d: it is not parked, and the thread that runs it is not known", s.own.Number)
	case s.own != nil:
		th = &parked{*s.own, s.t.arch}
	default:
		return nil, errors.New("no thread is selected")
	}
	return frame.New(s.t, th, s.t.Table)
}

// scope returns the scope of frames[0], whose callers are frames[1:].
func (s *subject) scope(frames ...proc.Stackframe) *proc.EvalScope {
	id := 0
	switch {
	case s.g != nil && s.g.Thread != nil:
		id = s.g.Thread.ThreadID()
	case s.thread != nil:
		id = s.thread.ThreadID()
	default:
		id = s.t.Proc.CurrentThread().ThreadID()
	}
	return proc.FrameToScope(s.t.Proc, s.t.Proc.Memory(), s.g, id, frames...)
}
