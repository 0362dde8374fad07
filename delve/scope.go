//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
)

// ErrNoVariables says that Delve can read no variables of a frame. Errors of
// [Frame.Scope] wrap it.
var ErrNoVariables = errors.New("no variables")

// Scope returns the scope in which Delve evaluates expressions in the frame. It is valid until the
// process runs. The error wraps [ErrNoVariables] and says why there is none: the frame is not Go's,
// for example.
func (f *Frame) Scope() (*proc.EvalScope, error) {
	if err := f.variables(); err != nil {
		return nil, err
	}
	return f.subject.scope(f.DelveFrames...), nil
}

// variables returns why the frame has no variables.
func (f *Frame) variables() error {
	name := f.Function.Name()
	switch {
	case f.Err != "":
		return fmt.Errorf("the stack ends before this frame: %w", ErrNoVariables)
	case f.Language != nil:
		return fmt.Errorf("%s: a function of %s: %w that Delve could read", name, f.Language.Language, ErrNoVariables)
	case f.TailCall:
		return fmt.Errorf("%s: the function has left by a tail call, its variables are gone: %w", name, ErrNoVariables)
	case len(f.DelveFrames) == 0 && f.subject.t.IsGo(block(f.Physical)):
		return fmt.Errorf("%s: Go code without DWARF, or in no goroutine: %w", name, ErrNoVariables)
	case len(f.DelveFrames) == 0 && f.Function != nil && !strings.HasPrefix(name, cPrefix): // a plug-in's name
		return fmt.Errorf("%s: code of which Delve has no debug information: %w", name, ErrNoVariables)
	case len(f.DelveFrames) == 0:
		return fmt.Errorf("%s: C code of which Delve has no debug information: %w", name, ErrNoVariables)
	}
	if cfa, ok := f.Physical.CFA(); ok && uint64(f.DelveFrames[0].Regs.CFA) != cfa {
		return fmt.Errorf("%s: Delve finds its frame at %#x, where it is not: %w", name, uint64(f.DelveFrames[0].Regs.CFA), ErrNoVariables)
	}
	return nil
}

// load reads the arguments and local variables of the frames in list, if Options.Load asks for
// them.
func (k *delveStack) load(list []Frame) ([]Frame, error) {
	if k.opts.Load == nil {
		return list, nil
	}
	for i := range list {
		f := &list[i]
		if f.Language != nil || f.IsForeign() {
			if arguments, locals, err := f.Variables(*k.opts.Load); err == nil {
				f.Arguments, f.Locals = arguments, locals
			}
			continue
		}
		if f.variables() != nil {
			continue
		}
		// Delve does so, too: without the goroutine, a loop's body does not show the
		// variables of the function around it.
		scope := proc.FrameToScope(k.t.Proc, k.t.Proc.Memory(), nil, 0, f.DelveFrames...)
		locals, err := scope.LocalVariables(*k.opts.Load)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i, err)
		}
		arguments, err := scope.FunctionArguments(*k.opts.Load)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i, err)
		}
		f.Locals, f.Arguments = api.ConvertVars(locals), api.ConvertVars(arguments)
	}
	return list, nil
}

// defers converts the calls that a frame has deferred.
func (k *delveStack) defers(list []*proc.Defer) []api.Defer {
	out := make([]api.Defer, len(list))
	bi := k.t.Proc.BinInfo()
	for i, d := range list {
		if d.Unreadable != nil {
			out[i].Unreadable = d.Unreadable.Error()
			continue
		}
		file, line, fn := d.DeferredFunc(k.t.Proc)
		deferred := proc.Location{PC: d.DeferPC, File: file, Line: line, Fn: fn}
		if fn != nil {
			deferred.PC = fn.Entry
		}
		statement := proc.Location{PC: d.DeferPC}
		statement.File, statement.Line, statement.Fn = bi.PCToLine(d.DeferPC)
		out[i] = api.Defer{DeferredLoc: shown(api.ConvertLocation(deferred)), DeferLoc: shown(api.ConvertLocation(statement)), SP: d.SP}
	}
	return out
}
