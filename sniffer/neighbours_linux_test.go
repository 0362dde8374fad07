package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The caller of code that shares its frame with its neighbours is found by their way out, if there
// is only one. Otherwise the stack ends early. The program itself says who the caller is.
func TestNeighbours(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "neighbours.c", "-O2", "-fno-optimize-sibling-calls")
	for _, tt := range []struct {
		how  string
		want []string // from waits on
	}{
		{"one", []string{"waits", "?", "runs", "main"}},
		{"two", []string{"waits", "?"}},
		{"nowhere", []string{"waits", "?"}},
	} {
		t.Run(tt.how, func(t *testing.T) {
			p := gdbtest.Start(t, program, tt.how)
			names, whole := settleAndWalk(t, p.PID)
			i := slices.Index(names, "waits")
			if cut := len(tt.want) == 2; i < 0 || whole == cut || cut && len(names) > i+2 {
				t.Fatalf("%q, whole: %t", names, whole)
			}
			if got := names[i:]; len(got) < len(tt.want) || !slices.Equal(got[:len(tt.want)], tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			bothWays(t, p.PID)
		})
	}
}
