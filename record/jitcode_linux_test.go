package record_test

import (
	"context"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// callers counts the samples by the function that takes the time and its caller, with file and
// line: in_alpha() has alpha() as its caller whenever it runs.
func callers(stacks *picture.Stacks) (right, wrong map[string]int64) {
	right, wrong = map[string]int64{}, map[string]int64{}
	for _, s := range stacks.Samples {
		for i, at := range s.Frames[:len(s.Frames)-1] {
			want, ok := strings.CutPrefix(stacks.Places[at].Function, "in_")
			if !ok {
				continue
			}
			if caller := &stacks.Places[s.Frames[i+1]]; caller.Function == want {
				right[want] += s.Values[0]
			} else {
				wrong[want+" is called "+caller.Shown()] += s.Values[0]
			}
		}
	}
	return right, wrong
}

// A process replaces code at an address again and again, and writes that to its jitdump late. Each
// sample has the name, the file and the line of the code that was there then; and its stack goes on
// by the unwind tables of the dump, for there is nothing else to go by.
func TestReplaced(t *testing.T) {
	gdbtest.CanRecord(t)
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the program makes code of amd64")
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "replaced.c", "-O2", "-fomit-frame-pointer"), "dump", t.TempDir(), "60")
	table := func(_ int, a *arch.Arch) *frame.Table {
		var list []frame.Sniffer
		for _, name := range []string{"sigtramp", "dwarf"} {
			s, err := sniffer.Options{}.ByName(name)
			if err != nil {
				t.Error(err)
			}
			list = append(list, s...)
		}
		return frame.NewTable(a, list...)
	}
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: amd64.Arch, Table: table})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Run(t.Context()); err != nil { // until it ends
		t.Fatal(err)
	}
	stacks := pictured(t, r)
	right, wrong := callers(stacks)
	if right["alpha"] < 20 || right["beta"] < 20 || len(wrong) > 0 {
		t.Errorf("right %v, wrong %v", right, wrong)
	}
	for _, at := range stacks.Places {
		if at.Function == "alpha" && (at.File != "/src/alpha.x" || at.Line != 11) {
			t.Errorf("alpha calls in %s:%d", at.File, at.Line)
		}
	}
	// Before the tables of the first eight functions are written, stacks end there.
	if stats := r.Profile().Stats; stats.Whole < stats.Samples/2 {
		t.Errorf("stacks are not whole: %+v", stats)
	}
}

// A process replaces code that it has registered by GDB's JIT interface: soon, samples have the new
// name, and old ones keep theirs when the process has ended.
func TestRegisteredAnew(t *testing.T) {
	gdbtest.CanRecord(t)
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the program makes code of amd64")
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "replaced.c", "-O2", "-fomit-frame-pointer"), "gdb")
	r := started(t, p.PID)
	taken := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Check(func(int, *arch.Arch, *target.Modules, *arch.Registers, target.Memory, []uint64, frame.StopReason) {
		switch taken++; taken {
		case 200, 400:
			if err := syscall.Kill(p.PID, syscall.SIGUSR1); err != nil {
				t.Error(err)
			}
		case 600:
			cancel()
		}
	})
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(p.PID, syscall.SIGKILL)
	right, wrong := callers(pictured(t, r))
	bad := int64(0)
	for _, n := range wrong {
		bad += n
	}
	// There is a look ten times a second: at 499 samples a second, 50 samples come before it, and
	// as many at a time.
	if right["alpha"] < 200 || right["beta"] < 50 || bad > 250 {
		t.Errorf("right %v, wrong %v", right, wrong)
	}
}

// What perf has recorded of such a process has the same names, if its samples have the clock of
// jitdumps: with copies of stacks, and with what the kernel has found along frame pointers.
func TestReplacedInFile(t *testing.T) {
	gdbtest.Perf(t)
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the program makes code of amd64")
	}
	for _, v := range []struct{ name, stacks, flag string }{
		{"copies", "dwarf,4096", "-fomit-frame-pointer"}, {"frame pointers", "fp", "-fno-omit-frame-pointer"},
	} {
		t.Run(v.name, func(t *testing.T) {
			file := perfRecord(t, "-k", "mono", "-e", "cpu-clock:u", "-F", "499", "--call-graph", v.stacks, "--",
				gdbtest.Build(t, "replaced.c", "-O2", v.flag), "dump", t.TempDir(), "20")
			_, stacks := fileOf(t, file)
			if right, wrong := callers(stacks); right["alpha"] < 10 || right["beta"] < 10 || len(wrong) > 0 {
				t.Errorf("right %v, wrong %v", right, wrong)
			}
		})
	}
}
