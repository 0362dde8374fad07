//go:build linux && (amd64 || arm64)

package delve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/goroutine"
)

// goroutines are the goroutines of a program in which Delve finds none, at one stop.
type goroutines struct {
	runtime *goroutine.Runtime
	others  error                 // what other runtimes there are; nil if there are none
	list    []goroutine.Goroutine // in ascending order of Number
	err     error
	partly  error // why some are not in the list
	read    bool  // list and errors are of this stop
}

// Goroutines returns the goroutines of a program without DWARF, in which Delve finds none. If Delve
// finds goroutines, the list is empty. After [Target.Refresh] they are read anew. The error wraps
// [proc.ErrNoRuntimeAllG] if the program is not Go's. If some goroutines cannot be read, or other
// modules have runtimes of their own, [Target.Warnings] says so.
func (t *Target) Goroutines() ([]goroutine.Goroutine, error) {
	gs := &t.goroutines
	if gs.read {
		return gs.list, gs.err
	}
	gs.read, gs.list, gs.err, gs.partly = true, nil, nil, nil
	if gs.runtime == nil {
		err := guard("goroutines", func() error {
			_, _, err := proc.GoroutinesInfo(t.Proc, 0, 1)
			return err
		})
		if !errors.Is(err, proc.ErrNoRuntimeAllG) {
			return nil, nil
		}
		list, err := goroutine.FindAll(t)
		if len(list) == 0 {
			if gs.err = err; errors.Is(err, goroutine.ErrNotGo) {
				gs.err = proc.ErrNoRuntimeAllG
			}
			return nil, gs.err
		}
		gs.runtime, gs.others = list[0], err
		for _, r := range list[1:] {
			gs.others = errors.Join(gs.others, fmt.Errorf("%s has a runtime of Go of its own, whose goroutines are not listed: Delve knows a goroutine by its number alone, and the goroutines of %s have the same numbers",
				r.Module().Path, gs.runtime.Module().Path))
		}
	}
	t.memory.forget()
	gs.list, gs.err = gs.runtime.All()
	if len(gs.list) > 0 {
		gs.partly, gs.err = errors.Join(gs.others, gs.err), nil
	}
	return gs.list, gs.err
}

// FindGoroutine returns the goroutine with a number from [Target.Goroutines]. The error says that
// there is none.
func (t *Target) FindGoroutine(number int64) (*goroutine.Goroutine, error) {
	list, err := t.Goroutines()
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(list, number, func(g goroutine.Goroutine, n int64) int { return cmp.Compare(int64(g.Number), n) })
	if !ok {
		return nil, fmt.Errorf("unknown goroutine %d", number)
	}
	return &list[i], nil
}

// DescribeGoroutine converts g, one of [Target.Goroutines], to Delve's API.
func DescribeGoroutine(t *Target, g *goroutine.Goroutine) *api.Goroutine {
	out := &api.Goroutine{
		ID: int64(g.Number), ThreadID: g.Thread, Status: statuses[g.Status], WaitReason: int64(g.ReasonCode), WaitSince: g.Since,
		CurrentLoc: t.place(g.PC, false), GoStatementLoc: t.place(g.Created, true), StartLoc: t.place(g.Start, false),
	}
	frames, err := Frames(t, Goroutine(out.ID), Options{Depth: userDepth})
	if err != nil || len(frames) == 0 || frames[0].Err != "" {
		out.UserCurrentLoc = out.CurrentLoc
		return out
	}
	out.CurrentLoc, out.UserCurrentLoc = frames[0].Location, frames[0].Location
	for i := range frames {
		if isUser(frames[i].Function.Name()) {
			out.UserCurrentLoc = frames[i].Location
			break
		}
	}
	return out
}

// statuses are the runtime's numbers of statuses, which clients expect.
var statuses = map[goroutine.Status]uint64{
	goroutine.Runnable: 1, goroutine.Running: 2, goroutine.Syscall: api.GoroutineSyscall, goroutine.Waiting: api.GoroutineWaiting,
	goroutine.Copying: 8, goroutine.Preempted: 9, goroutine.Leaked: 10,
}

// userDepth is the number of frames in which [DescribeGoroutine] looks for the user's own code.
const userDepth = 30

// isUser reports whether a function is the user's, or one of the run time that users call.
func isUser(name string) bool {
	if name, ok := strings.CutPrefix(name, "runtime."); ok {
		return name != "" && 'A' <= name[0] && name[0] <= 'Z'
	}
	for _, p := range []string{"internal/", "runtime/internal", "iter."} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return strings.Contains(name, ".")
}

// place returns the location of pc, by the engine's own symbols. caller says that pc is a return
// address.
func (t *Target) place(pc uint64, caller bool) api.Location {
	if pc == 0 {
		return api.Location{}
	}
	block := pc
	if caller {
		block--
	}
	at := t.symbols.Locate(t.modules, block)
	return t.location(pc, block, &at[0], false)
}
