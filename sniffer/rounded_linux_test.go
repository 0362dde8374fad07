package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The caller of code that has rounded its stack pointer down, and never returns, is found if only
// one return address can be the true one. Otherwise the stack ends early. The program itself says
// who the caller is.
func TestRounded(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "rounded.c", "-O2", "-fno-optimize-sibling-calls")
	for _, tt := range []struct {
		how   string
		whole bool
	}{
		{"entered", true}, {"called", true}, {"stale", true},
		{"ambushed", false}, {"smashed", false}, {"turned", false},
	} {
		t.Run(tt.how, func(t *testing.T) {
			p := gdbtest.Start(t, program, tt.how)
			names, whole := settleAndWalk(t, p.PID)
			i := slices.Index(names, "waits")
			if i < 0 || whole != tt.whole {
				t.Fatalf("%q, whole: %t", names, whole)
			}
			want := []string{"waits", "?"}
			if whole {
				want = append(want, tt.how, "aligns", "main")
			}
			if got := names[i:]; len(got) < len(want) || !slices.Equal(got[:len(want)], want) || !whole && len(got) > len(want) {
				t.Errorf("%q, want %q", got, want)
			}
			bothWays(t, p.PID)
		})
	}
}
