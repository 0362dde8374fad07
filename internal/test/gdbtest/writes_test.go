//go:build linux

package gdbtest

import (
	"strings"
	"testing"
)

// A debugger whose kernel wants the extended state whole is known to write no registers; with the
// library that adds the rest, it does.
func TestCannotWrite(t *testing.T) {
	refused, whole := RefuseVectors(t), preload(t, "whole.c")
	both := []string{whole[0] + ":" + strings.TrimPrefix(refused[0], "LD_PRELOAD=")}
	for _, debugger := range []string{"gdb", "gdbserver"} {
		t.Logf("%s: %q, %q", debugger, CannotWrite(t, debugger), Writing(t, debugger))
		if why := cannotWrite(t, debugger, refused...); !strings.Contains(why, debugger+" cannot write registers here: ") || !strings.Contains(why, "Bad address") {
			t.Errorf("%s: %q", debugger, why)
		}
		if why := cannotWrite(t, debugger, both...); why != "" {
			t.Errorf("%s with all of the state: %q", debugger, why)
		}
	}
}
