package record_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// A probe has replaced the return address of a function. The program says which functions are around it.
func TestReturnProbe(t *testing.T) {
	gdbtest.CanRecord(t)
	program := gdbtest.Build(t, "uretprobe.c", "-g", "-O2")
	gdbtest.ProbeReturns(t, program, "probed")
	p := gdbtest.StartRunning(t, program, "spin")
	stacks, stats := recorded(t, p.PID, 100)
	right := uint64(0)
	for _, s := range stacks.Samples {
		var names []string
		for _, f := range s.Frames {
			names = append(names, stacks.Places[f].Function)
		}
		want := []string{"waits", "probed", "[uprobes]", "once", "main"}
		if i := slices.Index(names, "waits"); i >= 0 && len(names) >= i+len(want) && slices.Equal(names[i:i+len(want)], want) {
			right += uint64(s.Values[0])
		}
	}
	if right < stats.Samples*9/10 {
		t.Errorf("%d of %d samples have the program's frames", right, stats.Samples)
	}
}
