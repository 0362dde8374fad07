//go:build linux && (amd64 || arm64)

package server

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/delve"
)

// Clients call functions by a command that Delve evaluates by Go's rules, in which there are no C
// functions. A call of a function that Delve does not find, and that C has, is made here. All
// others are Delve's.

// calls is the call of a C function that is under way. Delve does not know that the process runs
// then.
type calls struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil if there is none
}

// begin notes a call. over says that it is over.
func (c *calls) begin() (ctx context.Context, over func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	return ctx, func() {
		c.mu.Lock()
		c.cancel = nil
		c.mu.Unlock()
		cancel()
	}
}

func (c *calls) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel != nil
}

// interrupt has the call end: its thread is put back. It reports whether there was a call. Delve
// must not be asked to halt the process then: the signal by which it does would come when the call
// is over, and end a process that Delve has left.
func (c *calls) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel == nil {
		return false
	}
	c.cancel()
	return true
}

// callsC reports whether an expression calls a C function that Delve does not find.
func (s *stacks) callsC(goroutine int64, expr string) (is bool) {
	if s.dbg.IsRunning() {
		return false
	}
	goroutine = s.number(goroutine)
	s.locked(func(t *delve.Target) error {
		is = delve.CallsC(t, owner(goroutine), expr)
		return nil
	})
	return is
}

// call calls a C function in a goroutine or a thread.
func (s *stacks) call(goroutine int64, expr string) (r delve.Result, err error) {
	goroutine = s.number(goroutine)
	err = s.lockedGroup(func(t *delve.Target, group *proc.TargetGroup) error {
		ctx, over := s.calls.begin()
		defer over()
		r, err = delve.Call(ctx, t, group, owner(goroutine), expr)
		return err
	})
	return r, err
}

// answer keeps what Delve answers.
type answer struct {
	service.RPCCallback
	setUp chan struct{}
	out   any
	err   error
}

// Return implements [service.RPCCallback].
func (a *answer) Return(out any, err error) { a.out, a.err = out, err }

// SetupDoneChan implements [service.RPCCallback].
func (a *answer) SetupDoneChan() chan struct{} { return a.setUp }

// state returns the state after a call, and sends the events that a client waits for which has
// asked for them: Delve does nothing else at a command that it does not know.
func (m *methods) state(in *api.DebuggerCommand, cb service.RPCCallback) (*api.DebuggerState, error) {
	a := &answer{RPCCallback: cb, setUp: make(chan struct{})}
	m.RPCServer.Command(api.DebuggerCommand{WithEvents: in.WithEvents, ReturnInfoLoadConfig: in.ReturnInfoLoadConfig}, a)
	if a.err != nil {
		return nil, a.err
	}
	out := a.out.(rpc2.CommandOut)
	return &out.State, nil
}

// call calls a function.
func (m *methods) call(in api.DebuggerCommand, cb service.RPCCallback) {
	to := &selecting{cb, m, &in}
	goroutine := in.GoroutineID
	if goroutine == 0 {
		goroutine = -1
	}
	if !m.stacks.callsC(goroutine, in.Expr) {
		m.stacks.selected.Store(0)
		m.RPCServer.Command(in, to)
		return
	}
	close(cb.SetupDoneChan()) // the client may halt the call
	r, err := m.stacks.call(goroutine, in.Expr)
	state, gone := m.state(&in, cb)
	var exited proc.ErrProcessExited
	if errors.As(gone, &exited) {
		to.Return(rpc2.CommandOut{State: api.DebuggerState{Exited: true, ExitStatus: exited.Status, Err: exited}}, nil)
		return
	}
	if err = cmp.Or(err, gone); err != nil {
		to.Return(nil, err)
		return
	}
	threads := state.Threads
	if state.CurrentThread != nil {
		threads = append(threads[:len(threads):len(threads)], state.CurrentThread)
	}
	for _, th := range threads {
		if th.ID == r.Thread {
			th.CallReturn, th.ReturnValues = true, values(r)
			m.locate(th)
		}
	}
	to.Return(rpc2.CommandOut{State: *state}, nil)
}

// locate tells where a thread is, if Delve does not know it: clients show no values then.
func (m *methods) locate(th *api.Thread) {
	if th.File != "" {
		return
	}
	m.stacks.frames(-int64(th.ID), delve.Options{}, func(_ *delve.Target, frames []delve.Frame) error {
		if len(frames) > 0 && frames[0].Err == "" {
			th.File, th.Line, th.Function = frames[0].File, frames[0].Line, frames[0].Function
		}
		return nil
	})
}

// values returns what a function has returned as Delve's variables, and what was taken for granted.
func values(r delve.Result) []api.Variable {
	list := []api.Variable{}
	add := func(name, value, of string) {
		// Clients show the text of a number as it is.
		list = append(list, api.Variable{Name: name, Value: value, Type: of, RealType: of, Kind: reflect.Int, Flags: api.VariableReturnArgument})
	}
	if r.Value != "" {
		add("~r0", r.Value, r.Type)
	}
	for _, note := range r.Notes {
		add("note", note, "")
	}
	return list
}
