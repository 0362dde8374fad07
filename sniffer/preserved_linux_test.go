package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A caller's stack pointer is in a register that a call need not preserve. If none of the called
// code writes that register, the stack is whole: the program itself says how it goes on. If some of
// the code does, no frame is invented.
func TestPreservedByCallee(t *testing.T) {
	program := gdbtest.Build(t, "kept.c", "-O2", "-fomit-frame-pointer")
	for _, tt := range []struct {
		args  []string
		names []string
		whole bool
	}{
		{nil, []string{"kept_leaf", "?", "kept_by", "main"}, true},
		{[]string{"1"}, []string{"?", "kept_by", "main"}, true},
		{[]string{"2"}, []string{"kept_changer", "?"}, false},
	} {
		p := gdbtest.Start(t, program, tt.args...)
		names, whole := settleAndWalk(t, p.PID)
		if len(names) < len(tt.names) || !slices.Equal(names[:len(tt.names)], tt.names) || whole != tt.whole {
			t.Errorf("%v: %q, whole: %t", tt.args, names, whole)
		}
		bothWays(t, p.PID)
	}
}
