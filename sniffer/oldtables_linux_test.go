package sniffer_test

import (
	"os/exec"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestOldTables stops at every instruction of functions whose tables leave out epilogues, as tables
// of old compilers do. gdb's results come from the same code with complete tables.
func TestOldTables(t *testing.T) {
	for _, flags := range [][]string{
		{"-O2", "-fno-shrink-wrap", "-fno-omit-frame-pointer"}, {"-O2", "-fno-shrink-wrap", "-fomit-frame-pointer"},
	} {
		t.Run(flags[len(flags)-1], func(t *testing.T) {
			program := gdbtest.Build(t, "steps.c", append([]string{"-g", "-Wl,-z,now"}, flags...)...)
			rec := gdbtest.RecordSteps(t, program, gdbtest.Functions(t, program, "step_"), 400)
			old := gdbtest.OldTables(t, program, uint64(amd64.RSP), 20)
			compareStepsIn(t, newRecordedFrom(t, rec, old), rec, nil, 100)
			interruptedSteps(t, rec, old)
			// Without symbols, too, but for the jumps of tail calls.
			if out, err := exec.Command(gdbtest.Tool(t, "strip"), old).CombinedOutput(); err != nil {
				t.Fatalf("strip: %v: %s", err, out)
			}
			compareStepsIn(t, newRecordedFrom(t, rec, old), rec, []string{"sigtramp", "dwarf", "prologue", "fp-guess"}, 99)
		})
	}
}

// interruptedSteps puts a signal frame before each stop: the signal has interrupted the stop's
// frame 0.
func interruptedSteps(t *testing.T, rec *gdbtest.Recording, program string) {
	t.Helper()
	stops := interrupted{newRecordedFrom(t, rec, program)}
	table := sniffer.Table(amd64.Arch)
	table.Prepend(stops)
	walkers := walktest.New(stops.Modules(), table)
	for i := range rec.States {
		s := &rec.States[i]
		stops.state = s
		if err := walkers.Check(stops, stops); err != nil {
			t.Errorf("%s: %#x: %v", s.Function, s.Expected[0].PC, err)
		}
		stack, err := frame.New(stops, stops, table)
		if err != nil {
			t.Fatal(err)
		}
		f1, _ := stack.Frame(1)
		f2, err := stack.Frame(2)
		if f1 == nil || f2 == nil {
			t.Errorf("%s: %#x: %v", s.Function, s.Expected[0].PC, err)
		} else if why := differs(s, f1, f2); why != "" {
			t.Errorf("%s, interrupted: %s", s.Function, why)
		}
	}
}
