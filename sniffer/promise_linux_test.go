package sniffer_test

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// TestPromiseSteps stops at every instruction of functions in a program that promises frame
// pointers. If the frame pointer is not set up yet, or torn down, the sniffer fp must decline. gdb
// unwinds by DWARF.
func TestPromiseSteps(t *testing.T) {
	for i, flags := range []string{"-mno-avx", "-momit-leaf-frame-pointer"} {
		t.Run(flags, func(t *testing.T) {
			gdbtest.Share(t, i)
			program := gdbtest.Build(t, "steps.c", "-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe", "-Wl,-z,now", flags)
			rec := gdbtest.RecordSteps(t, program, gdbtest.Functions(t, program, "step_"), 400)
			promised := gdbtest.PromiseFP(t, program)
			compareStepsIn(t, newRecordedFrom(t, rec, promised), rec, nil, 100)
			objcopy(t, promised, "-R", ".eh_frame", "-R", ".eh_frame_hdr")
			bare := newRecordedFrom(t, rec, promised)
			bare.bare = true
			compareStepsIn(t, bare, rec, nil, 100)
			objcopy(t, promised, "--strip-all")
			wrongIsMarked(t, newRecordedFrom(t, rec, promised), rec)
		})
	}
}

// wrongIsMarked checks, in code without tables and symbols, that a wrong caller of frame 0 is
// marked as a guess.
func wrongIsMarked(t *testing.T, target *recorded, rec *gdbtest.Recording) {
	t.Helper()
	table := sniffer.Table(amd64.Arch)
	marked := 0
	for i := range rec.States {
		target.state = &rec.States[i]
		want := slices.DeleteFunc(slices.Clone(target.state.Expected), func(f gdbtest.Frame) bool { return !f.Physical() })
		stack, err := frame.New(target, target, table)
		if err != nil {
			t.Fatal(err)
		}
		f0, _ := stack.Frame(0)
		if f0.Row().Flags&trad.Guess != 0 {
			marked++
			continue
		}
		if f1, err := f0.Prev(); f1 == nil || f1.PC() != want[1].PC {
			t.Errorf("%s: %#x: caller %v (%v), by %s; gdb has %#x", target.state.Function, f0.PC(), f1, err, f0.Sniffer(), want[1].PC)
		}
	}
	t.Logf("%d of %d stops are marked", marked, len(rec.States))
}

func objcopy(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
		t.Fatalf("objcopy %v: %v: %s", args, err, out)
	}
}
