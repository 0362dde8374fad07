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

// stacks makes the engine's stacks of the process, for all sessions.
type stacks struct {
	dbg  *debugger.Debugger
	opts Options

	// These count the changes of the process: changing the changes that are under way, changed the
	// changes that are over. Delve does not tell of changes; so each request counts that does more
	// than read.
	changing atomic.Int64
	changed  atomic.Uint64

	selected atomic.Int64 // the goroutine that a client has selected, if Delve does not find it; else 0

	calls calls // of C functions

	// Delve's lock of the target guards these.
	target  *delve.Target
	release func()
	seen    uint64          // the value of changed when target was fresh
	told    map[string]bool // warnings that were printed
}

// change says that a request begins that may change the process. over says that it is over.
func (s *stacks) change() (over func()) {
	s.changing.Add(1)
	return func() {
		s.changed.Add(1)
		s.changing.Add(-1)
	}
}

// errRuns says that a request has to wait for a stop.
var errRuns = errors.New("the process is running: halt it first")

// patience is how long a request waits for a stop. Delve says that the process runs also during
// some commands that do not run it, and that are over soon.
const patience = 2 * time.Second

// locked calls f with the target that Delve has selected, while the process stands
// still. f must not call the debugger.
func (s *stacks) locked(f func(*delve.Target) error) error {
	return s.lockedGroup(func(t *delve.Target, _ *proc.TargetGroup) error { return f(t) })
}

// lockedGroup is locked for an f that needs all of Delve's targets.
func (s *stacks) lockedGroup(f func(*delve.Target, *proc.TargetGroup) error) error {
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
	return f(s.target, group)
}

// tell prints new warnings.
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

// fresh makes s.target the current state of t.
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
	target, err := delve.NewTargetWith(t, s.opts.Symbols)
	if err != nil {
		return err
	}
	s.target, s.seen = target, changed
	if s.opts.Prepare != nil {
		s.release = s.opts.Prepare(target)
	}
	return nil
}

// drop closes s.target.
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

// frames calls f with the frames of a goroutine, by Delve's number: -1 is the selected goroutine,
// or the current thread if none is selected. Other negative numbers are threads'.
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

// noFrame returns Delve's error for a frame that a stack does not have.
func noFrame(scope api.EvalScope) error {
	return fmt.Errorf("frame %d does not exist in goroutine %d", scope.Frame, scope.GoroutineID)
}

// set sets a variable that a frame sees: Go's by Delve, all others by the engine.
func (s *stacks) set(of api.EvalScope, name, value string) error {
	return s.frame(of, func(_ *delve.Target, frame *delve.Frame) error {
		if frame.IsForeign() {
			return frame.Set(name, value)
		}
		scope, err := frame.Scope()
		if err != nil {
			return err
		}
		return scope.SetVariable(name, value)
	})
}

// variables returns a frame's arguments, its local variables, or both, as wanted: Go's by Delve,
// all others by the engine.
func variables(f *delve.Frame, cfg proc.LoadConfig, wantArguments, wantLocals bool) (arguments, locals []api.Variable, err error) {
	if f.Language != nil || f.IsForeign() {
		return f.Variables(cfg)
	}
	scope, err := f.Scope()
	if err != nil {
		return nil, nil, err
	}
	if wantArguments {
		vars, err := scope.FunctionArguments(cfg)
		if err != nil {
			return nil, nil, err
		}
		arguments = api.ConvertVars(vars)
	}
	if wantLocals {
		vars, err := scope.LocalVariables(cfg)
		if err != nil {
			return nil, nil, err
		}
		locals = api.ConvertVars(vars)
	}
	return arguments, locals, nil
}

// eval returns the value of an expression in a frame. If the frame is not Go's, the engine has its
// variables; of a language's frame, an expression is the name of one. What they do not answer,
// Delve does: by a frame's scope, and by the variables of packages.
func (s *stacks) eval(of api.EvalScope, expr string, cfg proc.LoadConfig) (v *api.Variable, err error) {
	err = s.frame(of, func(t *delve.Target, frame *delve.Frame) error {
		var foreign error
		if frame.Language != nil {
			a, err := frame.VariableOfLanguage(expr)
			if err == nil {
				v = &a
				return nil
			}
			foreign = err
		}
		if frame.IsForeign() {
			x, err := frame.Evaluate(expr)
			if err == nil {
				a := delve.ConvertValue("", &x, cfg)
				a.Name = expr
				v = &a
				return nil
			}
			foreign = err
		}
		x, err := evalGo(t, frame, expr, cfg, foreign)
		if err == nil {
			v = api.ConvertVar(x)
		}
		return err
	})
	return v, err
}

// evalGo has Delve evaluate an expression. If the frame has no variables of Go, the expression may
// still use variables of packages; if it does not, the error says what the frame is, or why.
func evalGo(t *delve.Target, frame *delve.Frame, expr string, cfg proc.LoadConfig, why error) (*proc.Variable, error) {
	scope, none := frame.Scope()
	if none != nil {
		if why == nil {
			why = none
		}
		var err error
		if scope, err = globals(t); err != nil {
			return nil, why
		}
	}
	v, err := scope.EvalExpression(expr, cfg)
	if err != nil && why != nil {
		err = fmt.Errorf("%w; and %w", why, err)
	}
	return v, err
}

// close closes the target.
func (s *stacks) close() {
	_, unlock := s.dbg.LockTargetGroup()
	defer unlock()
	s.drop()
}
