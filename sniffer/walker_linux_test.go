package sniffer_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// Walkers on many goroutines, each with its own rows, share stacks, and modules that no walker has
// opened before. They see the frames that gdb saw.
func TestWalkersAtOnce(t *testing.T) {
	program := gdbtest.Build(t, "steps.c", gdbtest.Plain...)
	rec := gdbtest.RecordSteps(t, program, gdbtest.Functions(t, program, "step_"), 60)
	stops := newRecorded(t, rec)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			w := frame.NewWalker(stops.modules, sniffer.Table(amd64.Arch))
			pcs := make([]uint64, 64)
			for k := range rec.States {
				one := *stops
				one.state = &rec.States[(k+g*len(rec.States)/4)%len(rec.States)] // each at another place
				var regs arch.Registers
				if err := one.Registers(&regs); err != nil {
					t.Error(err)
					return
				}
				n, stop := w.Walk(&regs, &one, pcs)
				if why := differsPCs(one.state, pcs[:n]); why != "" || n < 3 {
					t.Errorf("goroutine %d, %s: %d frames, %q: %s", g, one.state.Function, n, stop, why)
				}
				if k%100 == 0 {
					w.Reset()
				}
			}
		})
	}
	wg.Wait()
}

// differsPCs compares PCs with gdb's, physical frames only.
func differsPCs(s *gdbtest.StepState, pcs []uint64) string {
	var want []uint64
	for _, f := range s.Expected {
		if f.Physical() {
			want = append(want, f.PC)
		}
	}
	if got := pcs[:min(len(pcs), len(want))]; !slices.Equal(got, want[:len(got)]) {
		return fmt.Sprintf("PCs %#x, gdb has %#x", got, want)
	}
	return ""
}

// A walk over the stack of a real process, with signal handlers on it, allocates nothing
// once its rows are known.
func TestWalkerAllocates(t *testing.T) {
	for src, args := range map[string][]string{"chain.c": nil, "sighandler.c": {"alt", "middle"}, "threads.c": nil} {
		t.Run(src, func(t *testing.T) {
			for try := range 5 {
				if walkerAllocates(t, src, args) {
					return
				}
				t.Logf("try %d: by where its code is mapped, rows take each other's place", try)
			}
			t.Error("rows take each other's place each time")
		})
	}
}

// walkerAllocates starts a process, and checks that walks of its stacks allocate nothing.
// It returns false if rows are missing because other rows took their slots in the cache.
func walkerAllocates(t *testing.T, src string, args []string) bool {
	p := gdbtest.Start(t, gdbtest.Build(t, src, gdbtest.Plain...), args...)
	process, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	table := sniffer.Table(process.Arch())
	w := frame.NewWalker(process.Modules(), table)
	checker := walktest.New(process.Modules(), table)
	threads, err := process.Threads()
	if err != nil {
		t.Fatal(err)
	}
	signals := 0
	for _, th := range threads {
		if err := checker.Check(process, th); err != nil {
			t.Error(err)
		}
		var regs arch.Registers
		if err := th.Registers(&regs); err != nil {
			t.Fatal(err)
		}
		mem, pcs := process.Memory(), make([]uint64, 256)
		walk := func() { w.Walk(&regs, mem, pcs) }
		step := func() {
			c := frame.NewContext(process.Arch(), &regs)
			for w.Step(&c, mem) == frame.NoReason {
				if !c.Caller {
					signals++
				}
			}
		}
		if n, stop := w.Walk(&regs, mem, pcs); n < 3 || stop != frame.Outermost {
			t.Errorf("thread %d: %d frames, %q", th.ID(), n, stop)
		}
		step()
		collisions := w.CacheStats().Collisions
		for name, f := range map[string]func(){"Walk": walk, "Step": step} {
			got := testing.AllocsPerRun(10, f)
			for range 3 { // allocations by other goroutines count, too
				got = min(got, testing.AllocsPerRun(10, f))
			}
			if w.CacheStats().Collisions != collisions {
				return false
			}
			if got != 0 {
				t.Errorf("thread %d: %s allocates %v times", th.ID(), name, got)
			}
		}
	}
	if src == "sighandler.c" && signals == 0 {
		t.Error("there is no signal frame")
	}
	return true
}
