//go:build linux && (amd64 || arm64)

package server

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve"
)

// stacks has the engine's stacks of the process, for all sessions.
type stacks struct {
	dbg  *debugger.Debugger
	opts Options

	// What may change the process, or has. Delve does not tell; so whatever a client
	// asks for counts that does not merely look.
	changing atomic.Int64
	changed  atomic.Uint64

	selected atomic.Int64 // the goroutine that a client has chosen of those that Delve does not find; 0 for none

	// These are guarded by Delve's lock of the target.
	target  *delve.Target
	release func()
	seen    uint64          // what changed was when target was fresh
	told    map[string]bool // warnings
}

// change says that something begins that may change the process; the function that it
// returns, that it is over.
func (s *stacks) change() (over func()) {
	s.changing.Add(1)
	return func() {
		s.changed.Add(1)
		s.changing.Add(-1)
	}
}

// errRuns is returned for what has to wait for a stop.
var errRuns = errors.New("the process is running: halt it first")

// patience is how long a request waits for a stop. Some commands do not run the
// process and are over soon; Delve counts them as running, too.
const patience = 2 * time.Second

// locked calls f with the target that Delve has selected, while the process stands
// still. f must call nothing of the debugger's.
func (s *stacks) locked(f func(*delve.Target) error) error {
	for deadline := time.Now().Add(patience); s.dbg.IsRunning(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errRuns
		}
	}
	group, unlock := s.dbg.LockTargetGroup()
	defer unlock()
	if ok, err := group.Selected.Valid(); !ok {
		return err
	}
	if err := s.fresh(group.Selected); err != nil {
		return err
	}
	defer s.tell()
	return f(s.target)
}

// tell tells the user what there is to know.
func (s *stacks) tell() {
	list := s.target.Warnings()
	if s.opts.Warnings != nil {
		list = append(list, s.opts.Warnings()...)
	}
	for _, w := range list {
		if !s.told[w] {
			warn("warning: %s", w)
			if s.told == nil {
				s.told = make(map[string]bool)
			}
			s.told[w] = true
		}
	}
}

// fresh sees to it that s.target is of t, as it is now.
func (s *stacks) fresh(t *proc.Target) error {
	changed := s.changed.Load()
	if s.target != nil && s.target.Proc == t {
		if changed == s.seen && s.changing.Load() == 0 {
			return nil
		}
		err := s.target.Refresh()
		if err == nil {
			s.seen = changed
			return nil
		}
	}
	s.drop()
	target, err := delve.NewTarget(t)
	if err != nil {
		return err
	}
	s.target, s.seen = target, changed
	if s.opts.Prepare != nil {
		s.release = s.opts.Prepare(target)
	}
	return nil
}

// drop lets go of what the engine has of the process.
func (s *stacks) drop() {
	if s.target == nil {
		return
	}
	if s.release != nil {
		s.release()
	}
	s.target.Close()
	s.target, s.release = nil, nil
}

// frames calls f with the frames of a goroutine, by Delve's number for it: -1 is the
// one that is selected, or the thread where there is none. Other negative numbers are of threads.
func (s *stacks) frames(goroutine int64, o delve.Options, f func(*delve.Target, []delve.Frame) error) error {
	goroutine = s.number(goroutine)
	return s.locked(func(t *delve.Target) error {
		frames, err := delve.Frames(t, owner(goroutine), o)
		if err != nil {
			return err
		}
		return f(t, frames)
	})
}

// frame calls f with one frame.
func (s *stacks) frame(scope api.EvalScope, f func(*delve.Target, *delve.Frame) error) error {
	if scope.Frame < 0 {
		return noFrame(scope)
	}
	return s.frames(scope.GoroutineID, delve.Options{Depth: scope.Frame}, func(t *delve.Target, frames []delve.Frame) error {
		if scope.Frame >= len(frames) || frames[scope.Frame].Err != "" {
			return noFrame(scope)
		}
		return f(t, &frames[scope.Frame])
	})
}

// noFrame says what Delve does where a stack has no such frame.
func noFrame(scope api.EvalScope) error {
	return fmt.Errorf("frame %d does not exist in goroutine %d", scope.Frame, scope.GoroutineID)
}

// scope calls f with the scope in which a frame's expressions are evaluated.
func (s *stacks) scope(of api.EvalScope, f func(*proc.EvalScope) error) error {
	return s.frame(of, func(_ *delve.Target, frame *delve.Frame) error {
		scope, err := frame.Scope()
		if err != nil {
			return err
		}
		return f(scope)
	})
}

// eval calls f with what an expression yields in a frame. In one that has no variables it may
// still be of those of packages; if it is not, the error says what the frame is.
func (s *stacks) eval(of api.EvalScope, expr string, cfg proc.LoadConfig, f func(*proc.Variable)) error {
	return s.frame(of, func(t *delve.Target, frame *delve.Frame) error {
		scope, none := frame.Scope()
		if none != nil {
			var err error
			if scope, err = globals(t); err != nil {
				return none
			}
		}
		v, err := scope.EvalExpression(expr, cfg)
		switch {
		case err == nil:
			f(v)
		case none != nil:
			return fmt.Errorf("%w; and %w", none, err)
		}
		return err
	})
}

// close ends the stacks.
func (s *stacks) close() {
	_, unlock := s.dbg.LockTargetGroup()
	defer unlock()
	s.drop()
}
