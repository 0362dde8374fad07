//go:build linux && (amd64 || arm64)

package server

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/goroutine"
)

// Delve finds no goroutines in a program without DWARF, but the engine does. This file lists them
// and selects one of them, as Delve does with goroutines that it finds.

// ListGoroutines lists goroutines. in may ask for the goroutines alone that wait for a channel of a
// frame.
func (m *methods) ListGoroutines(in rpc2.ListGoroutinesIn, out *rpc2.ListGoroutinesOut) error {
	if in.EvalScope != nil {
		for _, f := range in.Filters {
			if f.Kind == api.GoroutineWaitingOnChannel {
				if err := m.own(in.EvalScope); err != nil {
					return err
				}
				break
			}
		}
	}
	err := m.RPCServer.ListGoroutines(in, out)
	if !errors.Is(err, proc.ErrNoRuntimeAllG) {
		return err
	}
	list, next, err := m.stacks.goroutines(in.Start, in.Count)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(g *api.Goroutine) bool {
		return slices.ContainsFunc(in.Filters, func(f api.ListGoroutinesFilter) bool { return !passes(g, &f) })
	})
	out.Goroutines, out.Groups, out.TooManyGroups = grouped(list, &in.GoroutineGroupingOptions)
	out.Nextg = next
	return nil
}

// goroutines returns count goroutines from the start-th on, or all if count is 0. next is the
// index of the one after them, or -1.
func (s *stacks) goroutines(start, count int) (list []*api.Goroutine, next int, err error) {
	next = -1
	err = s.locked(func(t *delve.Target) error {
		all, err := t.Goroutines()
		if err != nil {
			return err
		}
		all = all[min(max(start, 0), len(all)):]
		if count > 0 && count < len(all) {
			all, next = all[:count], start+count
		}
		list = make([]*api.Goroutine, len(all))
		for i := range all {
			list[i] = delve.DescribeGoroutine(t, &all[i])
		}
		return nil
	})
	return list, next, err
}

// field returns the property of g that a client filters or groups by. If isBool is set, the
// property is the truth value is, and text names it. Else the property is text.
func field(g *api.Goroutine, kind api.GoroutineField) (text string, is, isBool bool) {
	at := func(l *api.Location) string {
		name := "?"
		if l.Function != nil {
			name = l.Function.Name()
		}
		return fmt.Sprintf("%s:%d in %s", l.File, l.Line, name)
	}
	switch kind {
	case api.GoroutineCurrentLoc:
		return at(&g.CurrentLoc), false, false
	case api.GoroutineUserLoc:
		return at(&g.UserCurrentLoc), false, false
	case api.GoroutineGoLoc:
		return at(&g.GoStatementLoc), false, false
	case api.GoroutineStartLoc:
		return at(&g.StartLoc), false, false
	case api.GoroutineRunning:
		return "running", g.ThreadID != 0, true
	case api.GoroutineUser:
		name := g.StartLoc.Function.Name()
		return "user", name == "runtime.main" || !strings.HasPrefix(name, "runtime."), true
	}
	return "", true, true
}

// passes reports whether a goroutine passes a filter. Labels are not known: only a negated filter
// of a label passes.
func passes(g *api.Goroutine, f *api.ListGoroutinesFilter) bool {
	if f.Kind == api.GoroutineLabel {
		return f.Negated
	}
	text, is, isBool := field(g, f.Kind)
	if !isBool {
		is = strings.Contains(text, f.Arg)
	}
	return is != f.Negated
}

// grouped puts goroutines into groups. o bounds the groups, and the members of each; more says
// that there are more groups.
func grouped(list []*api.Goroutine, o *api.GoroutineGroupingOptions) (out []*api.Goroutine, groups []api.GoroutineGroup, more bool) {
	if o.GroupBy == api.GoroutineFieldNone {
		return list, nil, false
	}
	members := map[string][]*api.Goroutine{}
	for _, g := range list {
		text, is, isBool := field(g, o.GroupBy)
		switch {
		case o.GroupBy == api.GoroutineLabel:
			text = o.GroupByKey + "="
		case isBool:
			text = fmt.Sprintf("%s=%v", text, is)
		}
		members[text] = append(members[text], g)
	}
	for name, list := range members {
		groups = append(groups, api.GoroutineGroup{Name: name, Total: len(list), Count: min(len(list), max(o.MaxGroupMembers, 0))})
	}
	slices.SortFunc(groups, func(x, y api.GoroutineGroup) int { return cmp.Compare(x.Name, y.Name) })
	if more = o.MaxGroups > 0 && len(groups) > o.MaxGroups; more {
		groups = groups[:o.MaxGroups]
	}
	for i := range groups {
		groups[i].Offset = len(out)
		out = append(out, members[groups[i].Name][:groups[i].Count]...)
	}
	return out, groups, more
}

// Command runs the process, or selects a thread or a goroutine.
func (m *methods) Command(in api.DebuggerCommand, cb service.RPCCallback) {
	switch in.Name {
	case api.SwitchGoroutine:
	case api.Call:
		m.call(in, cb)
		return
	case api.Halt:
		if m.stacks.calls.interrupt() {
			close(cb.SetupDoneChan())
			state, err := m.state(&in, cb) // waits for the end of the call
			if err != nil {
				cb.Return(nil, err)
				return
			}
			(&selecting{cb, m, &in}).Return(rpc2.CommandOut{State: *state}, nil)
			return
		}
		m.stacks.selected.Store(0)
	default:
		m.stacks.selected.Store(0)
	}
	m.RPCServer.Command(in, &selecting{cb, m, &in})
}

// State returns what the process is doing.
func (m *methods) State(in rpc2.StateIn, cb service.RPCCallback) {
	if in.NonBlocking && m.stacks.calls.running() {
		close(cb.SetupDoneChan())
		cb.Return(rpc2.StateOut{State: &api.DebuggerState{Running: true}}, nil)
		return
	}
	m.RPCServer.State(in, &selecting{RPCCallback: cb, methods: m})
}

// selecting adds the selected goroutine to an answer, if Delve finds no goroutines.
type selecting struct {
	service.RPCCallback
	*methods
	command *api.DebuggerCommand // nil for none
}

// Return implements [service.RPCCallback].
func (s *selecting) Return(out any, err error) {
	if errors.Is(err, proc.ErrNoRuntimeAllG) && s.command != nil && s.command.Name == api.SwitchGoroutine {
		out, err = s.choose(s.command.GoroutineID)
	}
	switch out := out.(type) {
	case rpc2.CommandOut:
		s.stacks.mark(&out.State)
		s.RPCCallback.Return(out, err)
		return
	case rpc2.StateOut:
		s.stacks.mark(out.State)
	}
	s.RPCCallback.Return(out, err)
}

// choose selects a goroutine.
func (s *selecting) choose(number int64) (out rpc2.CommandOut, err error) {
	err = s.stacks.locked(func(t *delve.Target) error {
		g, err := t.FindGoroutine(number)
		if err == nil && g.Thread != 0 {
			err = t.Proc.SwitchThread(g.Thread)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	s.stacks.selected.Store(number)
	state, err := s.dbg.State(true)
	if err == nil {
		out.State = *state
	}
	return out, err
}

// number returns the number of the goroutine that a client means. -1 is the selected goroutine, if
// it is one that Delve does not find; else it stays -1, for Delve.
func (s *stacks) number(goroutine int64) int64 {
	if chosen := s.selected.Load(); goroutine == -1 && chosen != 0 {
		return chosen
	}
	return goroutine
}

// found reports whether the engine alone finds the goroutine.
func (s *stacks) found(number int64) bool {
	return number > 0 && s.locked(func(t *delve.Target) error {
		_, err := t.FindGoroutine(number)
		return err
	}) == nil
}

// mark sets the selected goroutine in state, if Delve has set none: the one that the client has
// selected, or that the current thread runs.
func (s *stacks) mark(state *api.DebuggerState) {
	if state == nil || state.Running || state.Exited || state.SelectedGoroutine != nil {
		return
	}
	s.locked(func(t *delve.Target) error {
		if g := s.current(t); g != nil {
			state.SelectedGoroutine = delve.DescribeGoroutine(t, g)
		}
		return nil
	})
}

// current returns the selected goroutine, if it is one that Delve does not find; else nil.
func (s *stacks) current(t *delve.Target) *goroutine.Goroutine {
	chosen, thread := s.selected.Load(), t.Proc.CurrentThread().ThreadID()
	list, _ := t.Goroutines()
	for i := range list {
		if g := &list[i]; chosen != 0 && int64(g.Number) == chosen || chosen == 0 && g.Thread == thread {
			return g
		}
	}
	return nil
}
