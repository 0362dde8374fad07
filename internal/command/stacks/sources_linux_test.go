package stacks_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPromisedFramePointers gives a program an SFrame section that says that all
// functions keep frame pointers (SFRAME_F_FRAME_POINTER, SFrame V1 section "SFrame
// Flags") and has no FDE: the fp sniffer must unwind it, as gdb does by DWARF.
// No assembler sets the flag, so the test does.
func TestPromisedFramePointers(t *testing.T) {
	program := gdbtest.PromiseFP(t, gdbtest.Build(t, "chain.c", "-g", "-O2", "-fno-omit-frame-pointer", "-Wa,--gsframe"))
	p := gdbtest.Start(t, program)
	got := commandtest.Take(t, p.PID, &report.Flags{})
	commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
	by := map[string]string{}
	for _, fr := range got.Threads[0].Frames {
		by[fr.Function] = fr.Sniffer
		if fr.Guess {
			t.Errorf("%s is a guess", fr.Function)
		}
	}
	for _, name := range []string{"outer", "saves_rbx", "saves_all", "big_args", "main"} {
		if by[name] != "fp" {
			t.Errorf("%s was unwound by %q, want fp", name, by[name])
		}
	}
	if by["_start"] != "dwarf" {
		t.Errorf("_start, which has no frame pointer, was unwound by %q", by["_start"])
	}
}

// TestVDSOGDB stops a process inside the kernel's vDSO, whose tables are in
// memory only.
func TestVDSOGDB(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "vdso.c", gdbtest.Plain...))
	for range 50 {
		p.Stop(t)
		got := commandtest.Take(t, p.PID, &report.Flags{})
		if got.Threads[0].Frames[0].Module == "[vdso]" {
			want := gdbtest.Backtrace(t, p.PID)
			commandtest.CompareAll(t, got, want)
			if !slices.ContainsFunc(got.Threads[0].Frames, func(f report.Frame) bool { return f.Function == "asks_time" }) {
				t.Errorf("asks_time is not on the stack: %+v", got.Threads[0].Frames)
			}
			return
		}
		p.Continue(t)
	}
	gdbtest.Cannot(t, "the process was never in the vDSO: this kernel or its clock does not use it")
}
