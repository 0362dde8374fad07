//go:build linux && (amd64 || arm64)

package delve_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/delvetest"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// accounts describes the goroutines of a process that are the program's own, and have come to
// rest: what they do, where, and their stacks. How many there are of each kind is chance.
func accounts(t *testing.T, pt *proc.Target, list []*api.Goroutine) (n int, out map[string]bool) {
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
	out = make(map[string]bool)
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
			if f.Bottom {
				f.FramePointerOffset = 0 // there is none: relative to nothing, it is another in each process
			}
			fmt.Fprintf(&b, "\n  %s %d %d %v %s", at(&f.Location), f.FrameOffset, f.FramePointerOffset, f.Bottom, f.Err)
		}
		// What is polled ends when the collector closes the pipe's other end.
		if s := b.String(); strings.Contains(s, " main.") && !strings.Contains(s, " main.polled ") && (g.Status == api.GoroutineWaiting || g.Status == api.GoroutineSyscall) {
			n++
			out[s] = true
			// Delve's place in the user's own code may be one in a function that is inlined there.
			user := func(f api.Stackframe) bool { return reflect.DeepEqual(f.Location, g.UserCurrentLoc) }
			if i := slices.IndexFunc(frames, user); own && (i < 0 || i > 0 && strings.HasPrefix(frames[i].Function.Name(), "runtime.")) {
				t.Errorf("goroutine %d is at %s in\n%s", g.ID, at(&g.UserCurrentLoc), s)
			}
		}
	}
	return n, out
}

// Where there is no DWARF, nor symbols, there are the goroutines that Delve finds in the same
// program with it: in the same states, with the same stacks.
func TestGoroutinesWithoutDWARF(t *testing.T) {
	pt := delvetest.Attach(t, gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet").PID).Selected
	gs, _, err := proc.GoroutinesInfo(pt, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, want := accounts(t, pt, api.ConvertGoroutines(pt, gs))
	if n < 900 || len(want) < 60 {
		t.Fatalf("%d goroutines, of %d kinds", n, len(want))
	}
	for _, flags := range [][]string{{"-ldflags=-w"}, {"-ldflags=-s -w", "-buildmode=pie"}} {
		pt := delvetest.Attach(t, gdbtest.StartRunning(t, delvetest.Go(t, "amd64", flags...), "quiet").PID).Selected
		if _, _, err := proc.GoroutinesInfo(pt, 0, 0); !errors.Is(err, proc.ErrNoRuntimeAllG) {
			t.Errorf("%s: Delve finds goroutines: %v", flags, err)
		}
		n, got := accounts(t, pt, nil)
		if n < 900 {
			t.Errorf("%s: %d goroutines", flags, n)
		}
		for account := range want {
			if !got[account] {
				t.Errorf("%s: there is no goroutine with %s", flags, account)
			}
		}
		for account := range got {
			if !want[account] {
				t.Errorf("%s: there is a goroutine with %s", flags, account)
			}
		}
	}
}
