//go:build linux && (amd64 || arm64)

package delve_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// accounts describes those goroutines of the program that have come to rest: their states, their
// places and their stacks. How many there are of each kind is chance.
func accounts(t *testing.T, pt *proc.Target, list []*api.Goroutine) (n int, out map[string]int) {
	t.Helper()
	tg, own := open(t, pt), list == nil
	if own {
		gs, err := tg.Goroutines()
		if err != nil {
			t.Fatal(err)
		}
		for i := range gs {
			list = append(list, delve.DescribeGoroutine(tg, &gs[i]))
		}
	}
	out = make(map[string]int)
	at := func(l *api.Location) string {
		return fmt.Sprintf("%s %s:%d", l.Function.Name(), filepath.Base(l.File), l.Line)
	}
	for _, g := range list {
		frames, err := delve.Stacktrace(tg, delve.Goroutine(g.ID), 100)
		if err != nil {
			t.Errorf("goroutine %d: %v", g.ID, err)
			continue
		}
		var b strings.Builder
		if g.Status != api.GoroutineWaiting {
			g.WaitReason = 0 // Delve tells why it last waited
		}
		fmt.Fprintf(&b, "status %d, reason %d, thread %v, go %s", g.Status, g.WaitReason, g.ThreadID != 0, at(&g.GoStatementLoc))
		for i := range frames {
			f := &frames[i]
			if f.Bottom || g.ThreadID != 0 {
				// At the end of a stack, the offset has no base. On arm64, Delve takes a function
				// that does not touch the register for one that has saved it.
				f.FramePointerOffset = 0
			}
			fmt.Fprintf(&b, "\n  %s %d %d %v %s", at(&f.Location), f.FrameOffset, f.FramePointerOffset, f.Bottom, f.Err)
		}
		// These goroutines do not rest: polled ends when the collector closes the pipe's other end,
		// runs runs, and die dies.
		if s := b.String(); strings.Contains(s, " main.") && !regexp.MustCompile(` main\.(polled|runs|die)`).MatchString(s) && (g.Status == api.GoroutineWaiting || g.Status == api.GoroutineSyscall) {
			n++
			out[s]++
			// Delve's place in the user's own code may be in a function that is inlined there.
			user := func(f api.Stackframe) bool { return reflect.DeepEqual(f.Location, g.UserCurrentLoc) }
			if own && (!slices.ContainsFunc(frames, user) || g.UserCurrentLoc.Function.Name() == "runtime.gopark") {
				t.Errorf("goroutine %d is at %s in\n%s", g.ID, at(&g.UserCurrentLoc), s)
			}
		}
	}
	return n, out
}

// If fewer goroutines than few are of a kind, perhaps none has come to rest.
const few = 3

// In a program with neither DWARF nor symbols, the engine finds the goroutines that Delve finds in
// the same program with DWARF: in the same states, with the same stacks.
func TestGoroutinesWithoutDWARF(t *testing.T) {
	live := func(flags ...string) *proc.Target {
		return delvetest.Attach(t, gdbtest.StartRunning(t, delvetest.Go(t, "amd64", flags...), "quiet").PID).Selected
	}
	guest := func(flags ...string) *proc.Target {
		grp, _ := delvetest.Guest(t, flags...)
		return grp.Selected
	}
	for _, tt := range []struct {
		with, without *proc.Target
	}{
		{live(), live("-ldflags=-s -w")},
		{guest(), guest("-ldflags=-w")},
	} {
		arch := tt.with.BinInfo().Arch.Name
		gs, _, err := proc.GoroutinesInfo(tt.with, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		n, want := accounts(t, tt.with, api.ConvertGoroutines(tt.with, gs))
		if n < 900 || len(want) < 50 {
			t.Fatalf("%s: %d goroutines, of %d kinds", arch, n, len(want))
		}
		if _, _, err := proc.GoroutinesInfo(tt.without, 0, 0); !errors.Is(err, proc.ErrNoRuntimeAllG) {
			t.Errorf("%s: Delve finds goroutines: %v", arch, err)
		}
		n, got := accounts(t, tt.without, nil)
		if n < 900 {
			t.Errorf("%s: %d goroutines", arch, n)
		}
		// A few may still be on their way.
		for account, n := range want {
			if n >= few && got[account] == 0 {
				t.Errorf("%s: there is no goroutine with %s", arch, account)
			}
		}
		for account, n := range got {
			if n >= few && want[account] == 0 {
				t.Errorf("%s: there is a goroutine with %s", arch, account)
			}
		}
	}
}
