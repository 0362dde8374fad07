//go:build linux && (amd64 || arm64)

package server

import (
	"debug/buildinfo"
	"errors"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/version"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/delve"
)

// methods has the methods that clients call and that depend on stacks, or on frames' numbers. All
// others are Delve's own.
type methods struct {
	*rpc2.RPCServer
	*server
}

func newRPC(s *server) *methods {
	return &methods{rpc2.NewServer(&s.config, s.dbg), s}
}

// looks has the methods that do not change the process: the engine's knowledge of it stays
// true.
var looks = map[string]bool{
	"AttachedToExistingProcess": true, "BuildID": true, "Disassemble": true, "Eval": true, "ExamineMemory": true,
	"FindLocation": true, "FunctionReturnLocations": true, "GetBreakpoint": true, "GetThread": true, "GetVersion": true,
	"IsMulticlient": true, "LastModified": true, "ListBreakpoints": true, "ListDynamicLibraries": true,
	"ListFunctionArgs": true, "ListFunctions": true, "ListGoroutines": true, "ListLocalVars": true,
	"ListPackageVars": true, "ListPackagesBuildInfo": true, "ListRegisters": true, "ListSources": true,
	"ListTargets": true, "ListThreads": true, "ListTypes": true, "ProcessPid": true, "Recorded": true,
	"SetApiVersion": true, "Stacktrace": true, "State": true, "TypeInfo": true,
}

// GetVersion returns the versions of Delve and of the interface.
func (m *methods) GetVersion(_ api.GetVersionIn, out *api.GetVersionOut) error {
	out.DelveVersion, out.APIVersion = version.DelveVersion.String(), m.config.APIVersion
	err := m.dbg.GetVersion(out)
	if out.TargetGoVersion == "" && !m.dbg.IsRunning() {
		// Clients need it to name wait reasons. Delve reads it from DWARF alone.
		m.stacks.locked(func(t *delve.Target) error {
			if info, err := buildinfo.ReadFile(t.Proc.BinInfo().Images[0].Path); err == nil {
				out.TargetGoVersion = "Go cmd/compile " + info.GoVersion
			}
			return nil
		})
	}
	return err
}

// SetApiVersion accepts version 2 of the interface.
func (m *methods) SetApiVersion(in api.SetAPIVersionIn, _ *api.SetAPIVersionOut) error {
	if in.APIVersion != 2 {
		return errors.New("unknown API version")
	}
	return nil
}

// maxDepth bounds the depth of a stack, whatever a client asks for.
const maxDepth = 1 << 20

// Stacktrace returns a goroutine's stack. If a client asks for one of Delve's other ways to walk,
// it returns Delve's stack.
func (m *methods) Stacktrace(in rpc2.StacktraceIn, out *rpc2.StacktraceOut) error {
	if in.Opts&(api.StacktraceSimple|api.StacktraceG) != 0 {
		return m.RPCServer.Stacktrace(in, out)
	}
	if in.Depth < 0 {
		return errors.New("negative maximum stack depth")
	}
	o := delve.Options{Depth: min(in.Depth, maxDepth), Defers: in.Defers || in.Opts&api.StacktraceReadDefers != 0, Load: api.LoadConfigToProc(in.Cfg)}
	if o.Load == nil && in.Full {
		full := proc.LoadFullValue()
		o.Load = &full
	}
	return m.stacks.frames(in.Id, o, func(_ *delve.Target, frames []delve.Frame) error {
		out.Locations = []api.Stackframe{}
		for i := min(max(in.Skip, 0), len(frames)); i < len(frames); i++ {
			out.Locations = append(out.Locations, frames[i].Stackframe)
		}
		return nil
	})
}

// Eval evaluates an expression in a frame.
func (m *methods) Eval(in rpc2.EvalIn, out *rpc2.EvalOut) error {
	if in.Scope.DeferredCall > 0 {
		if err := m.own(&in.Scope); err != nil {
			return err
		}
		return m.RPCServer.Eval(in, out)
	}
	cfg := proc.LoadFullValue()
	if in.Cfg != nil {
		cfg = *api.LoadConfigToProc(in.Cfg)
	}
	var err error
	out.Variable, err = m.stacks.eval(in.Scope, in.Expr, cfg)
	return err
}

// Set sets a variable that a frame sees.
func (m *methods) Set(in rpc2.SetIn, out *rpc2.SetOut) error {
	if in.Scope.DeferredCall > 0 {
		if err := m.own(&in.Scope); err != nil {
			return err
		}
		return m.RPCServer.Set(in, out)
	}
	return m.stacks.set(in.Scope, in.Symbol, in.Value)
}

// ListLocalVars lists a frame's local variables.
func (m *methods) ListLocalVars(in rpc2.ListLocalVarsIn, out *rpc2.ListLocalVarsOut) error {
	if in.Scope.DeferredCall > 0 {
		if err := m.own(&in.Scope); err != nil {
			return err
		}
		return m.RPCServer.ListLocalVars(in, out)
	}
	return m.stacks.frame(in.Scope, func(_ *delve.Target, f *delve.Frame) (err error) {
		_, out.Variables, err = variables(f, *api.LoadConfigToProc(&in.Cfg), false, true)
		return err
	})
}

// ListFunctionArgs lists the arguments of a frame's function.
func (m *methods) ListFunctionArgs(in rpc2.ListFunctionArgsIn, out *rpc2.ListFunctionArgsOut) error {
	if in.Scope.DeferredCall > 0 {
		if err := m.own(&in.Scope); err != nil {
			return err
		}
		return m.RPCServer.ListFunctionArgs(in, out)
	}
	return m.stacks.frame(in.Scope, func(_ *delve.Target, f *delve.Frame) (err error) {
		out.Args, _, err = variables(f, *api.LoadConfigToProc(&in.Cfg), true, false)
		return err
	})
}

// ListRegisters lists the registers of a thread or of a frame.
func (m *methods) ListRegisters(in rpc2.ListRegistersIn, out *rpc2.ListRegistersOut) error {
	if number := m.stacks.number(-1); in.Scope == nil && in.ThreadID == 0 && number > 0 {
		in.Scope = &api.EvalScope{GoroutineID: number}
	}
	if in.Scope == nil {
		return m.RPCServer.ListRegisters(in, out)
	}
	if in.Scope.DeferredCall > 0 || in.Scope.Frame == 0 {
		err := m.own(in.Scope)
		if err == nil {
			return m.RPCServer.ListRegisters(in, out)
		}
		if in.Scope.DeferredCall > 0 || !errors.Is(err, errNotTheirs) {
			return err
		}
	}
	return m.stacks.frame(*in.Scope, func(t *delve.Target, f *delve.Frame) error {
		out.Regs = registers(t, f)
		out.Registers = out.Regs.String()
		return nil
	})
}

// FindLocation finds a location in the scope of a frame.
func (m *methods) FindLocation(in rpc2.FindLocationIn, out *rpc2.FindLocationOut) error {
	if err := m.own(&in.Scope); err != nil {
		return m.find(&in, out, err)
	}
	return m.RPCServer.FindLocation(in, out)
}

// Disassemble disassembles code, also functions for which Delve has no debug information.
func (m *methods) Disassemble(in rpc2.DisassembleIn, out *rpc2.DisassembleOut) error {
	if in.EndPC == 0 {
		m.stacks.locked(func(t *delve.Target) error {
			if t.Proc.BinInfo().PCToFunc(in.StartPC) != nil {
				return nil
			}
			// If a function ends with a call, its frame's PC is behind it.
			for _, pc := range []uint64{in.StartPC, in.StartPC - 1} {
				if module := t.Modules().Find(pc); module != nil {
					if lo, hi, ok := module.Function(pc); ok && hi-lo <= maxFunction {
						in.StartPC, in.EndPC = lo, hi
						break
					}
				}
			}
			return nil
		})
	}
	if m.stacks.found(in.Scope.GoroutineID) {
		in.Scope.GoroutineID = -1 // the code does not depend on it
	}
	return m.RPCServer.Disassemble(in, out)
}

// maxFunction is the longest function that is disassembled, in bytes.
const maxFunction = 1 << 20

// CreateWatchpoint watches the variable of an expression in a frame.
func (m *methods) CreateWatchpoint(in rpc2.CreateWatchpointIn, out *rpc2.CreateWatchpointOut) error {
	if err := m.own(&in.Scope); err != nil {
		return err
	}
	return m.RPCServer.CreateWatchpoint(in, out)
}
