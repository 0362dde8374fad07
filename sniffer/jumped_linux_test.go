package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// Code that was jumped to has no return address of its own. The program itself says which function
// has one. The frames, and the mark of a guess, show that no sniffer takes the word at the stack
// pointer for a return address.
func TestJumpedTo(t *testing.T) {
	program := gdbtest.Build(t, "jumped.c", "-O2", "-fomit-frame-pointer")
	for _, args := range [][]string{nil, {"zero"}} {
		p := gdbtest.Start(t, program, args...)
		names, whole := settleAndWalk(t, p.PID)
		if len(names) < 3 || !slices.Equal(names[:3], []string{"jumped_code", "jumped_by", "main"}) || !whole {
			t.Errorf("%v: %q, whole: %t", args, names, whole)
		}
		bothWays(t, p.PID)
		tg, threads := attach(t, p.PID)
		defer tg.Close()
		stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		if f, err := stack.Frame(0); err != nil || f.Row().Flags&trad.Guess == 0 {
			t.Errorf("%v: frame 0 is no guess: %v", args, err)
		}
	}
}
