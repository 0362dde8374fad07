//go:build linux && (amd64 || arm64)

package server

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/op"
	"github.com/go-delve/delve/pkg/locspec"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/delve"
)

// errNotTheirs says that Delve's own stack lacks a frame.
var errNotTheirs = errors.New("it is not in Delve's own stack, by which this is done")

// own changes the frame's number in scope to Delve's, for requests that Delve alone can
// answer. The error wraps [errNotTheirs] if Delve's stack does not have the frame.
func (s *server) own(scope *api.EvalScope) error {
	if number := s.stacks.number(scope.GoroutineID); s.stacks.found(number) {
		return fmt.Errorf("goroutine %d: %w", number, errNotTheirs)
	}
	if scope.Frame <= 0 {
		return nil // both stacks begin with the same frame
	}
	var ours []api.Stackframe
	err := s.stacks.frames(scope.GoroutineID, delve.Options{Depth: scope.Frame}, func(_ *delve.Target, frames []delve.Frame) error {
		if scope.Frame >= len(frames) || frames[scope.Frame].Err != "" {
			return noFrame(*scope)
		}
		for i := range frames {
			ours = append(ours, frames[i].Stackframe)
		}
		return nil
	})
	if err != nil {
		return err
	}
	list, err := s.theirs(scope.GoroutineID, scope.Frame, 0)
	if err != nil {
		return err
	}
	number := align(ours, list)[scope.Frame]
	if number == none {
		return fmt.Errorf("frame %d, %s: %w", scope.Frame, ours[scope.Frame].Function.Name(), errNotTheirs)
	}
	scope.Frame = number
	return nil
}

// theirs returns Delve's own stack of a goroutine.
func (s *server) theirs(goroutine int64, depth int, opts api.StacktraceOptions) ([]api.Stackframe, error) {
	raw, err := s.dbg.Stacktrace(goroutine, depth, opts)
	if err != nil {
		return nil, err
	}
	return s.dbg.ConvertStacktrace(raw, nil)
}

// find finds a location in the scope of a frame that Delve does not reach. why is the error for
// locations that only Delve can find.
func (m *methods) find(in *rpc2.FindLocationIn, out *rpc2.FindLocationOut, why error) error {
	if !errors.Is(why, errNotTheirs) {
		return why
	}
	if in.Scope.DeferredCall > 0 {
		return why
	}
	spec, err := locspec.Parse(in.Loc)
	if err != nil {
		return err
	}
	return m.stacks.frame(in.Scope, func(t *delve.Target, f *delve.Frame) error {
		scope, err := f.Scope()
		if err != nil {
			if offset, ok := spec.(*locspec.OffsetLocationSpec); ok && offset.Offset == 0 {
				out.Locations = []api.Location{f.Location} // the frame's own place: an address in code
				return nil
			}
			return err
		}
		out.Locations, out.SubstituteLocExpr, err = spec.Find(t.Proc, m.config.ProcessArgs, scope, in.Loc, in.IncludeNonExecutableLines, in.SubstitutePathRules)
		for i := range out.Locations {
			l := &out.Locations[i]
			if l.PC == 0 {
				continue
			}
			file, line, function := t.Proc.BinInfo().PCToLine(l.PC)
			l.File, l.Line, l.Function = file, line, api.ConvertFunction(function)
			l.PCPids = make([]int, len(l.PCs))
			for j := range l.PCPids {
				l.PCPids[j] = t.Proc.Pid()
			}
		}
		return err
	})
}

// registers returns the registers of a frame that are known.
func registers(t *delve.Target, f *delve.Frame) api.Registers {
	var regs op.DwarfRegisters
	var known arch.Registers
	f.Physical.Registers(&known)
	for _, r := range t.Arch().Regs {
		if v, ok := known.Get(r.Num); ok {
			regs.AddReg(uint64(r.Num), op.DwarfRegisterFromUint64(v))
		}
	}
	return api.ConvertRegisters(&regs, t.Proc.BinInfo().Arch.DwarfRegisterToString, false)
}

// globals returns a scope with the variables of packages, for a frame without variables.
func globals(t *delve.Target) (*proc.EvalScope, error) {
	scope, err := proc.ConvertEvalScope(t.Proc, -1, 0, 0)
	if err == nil {
		scope.Location = proc.Location{}
	}
	return scope, err
}
