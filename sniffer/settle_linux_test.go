package sniffer_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// attaches is how often the test attaches to a busy process.
func attaches() int {
	if os.Getenv("SFWALK_SOAK") != "" {
		return 500
	}
	return 20
}

// settled attaches to a process and walks all of its threads. It reads a thread once more if its
// stack is not of one moment. It returns the functions of each stack, outermost last, and how many
// threads were read once more. Every stack must be of one moment, and whole.
func settled(t *testing.T, pid int) (stacks [][]string, again int) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	table := sniffer.Table(tg.Arch())
	check := walktest.New(tg.Modules(), table)
	for _, th := range threads {
		before := target.MemoryOf(tg, th)
		stack, err := frame.New(tg, th, table)
		if err != nil {
			t.Fatal(err)
		}
		if err := stack.RetakeIfMovedOn(); err != nil {
			t.Fatal(err)
		}
		if target.MemoryOf(tg, th) != before {
			again++
		}
		var names []string
		for f, err := range stack.All() {
			if err != nil && len(names) == 1 && names[0] == "?" {
				break // a thread's first instruction, in clone
			}
			if err != nil {
				t.Fatalf("%q: %v", names, err)
			}
			if f.MovedOn() {
				t.Fatalf("%q: the thread has moved on", names)
			}
			names = append(names, functionOf(f))
		}
		if stack.MovedOn() || th.(*live.Thread).MovedOn() {
			t.Fatalf("%q: the thread has moved on", names)
		}
		if err := check.Check(tg, th); err != nil { // walks the copies that were read
			t.Fatalf("%q: %v", names, err)
		}
		stacks = append(stacks, names)
	}
	return stacks, again
}

// count returns how many functions of a stack have a name.
func count(names []string, name string) (n int) {
	for _, x := range names {
		if x == name {
			n++
		}
	}
	return n
}

// sides returns which of left and right the functions of a stack belong to.
func sides(names []string) (list []string) {
	for _, name := range names {
		name = strings.TrimPrefix(name, "main.")
		for _, side := range []string{"left", "right"} {
			if strings.HasPrefix(name, side) && !slices.Contains(list, side) {
				list = append(list, side)
			}
		}
	}
	return list
}

// In busy processes, threads return and call all the time. Every stack is whole, and of one moment.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		program string
		flags   []string
		args    []string
		check   func(names []string) bool
	}{
		{"mover.c", gdbtest.Plain, []string{"spin", "20000"}, func(names []string) bool {
			return count(names, "left") == 20000 && count(names, "right") == 0 && count(names, "main") == 1 && count(names, "spin") == 1
		}},
		{"mover.c", gdbtest.Plain, []string{"nap", "20000"}, func(names []string) bool {
			return count(names, "left") == 20000 && count(names, "right") == 0 && count(names, "main") == 1 && count(names, "nap") == 1
		}},
		{"mover.c", gdbtest.Plain, []string{"swing", "5000"}, func(names []string) bool {
			return len(sides(names)) <= 1 && count(names, "main") == 1 && count(names, "left")+count(names, "right") <= 5000
		}},
		{"pendulum.c", gdbtest.Plain, nil, func(names []string) bool {
			n := count(names, "left") + count(names, "right")
			return len(sides(names)) <= 1 && n <= 64 && (n == 0 || count(names, "left_top")+count(names, "right_top") == 1) && count(names, "main") == 1
		}},
		{"napper.c", gdbtest.Plain, nil, func(names []string) bool {
			return len(sides(names)) <= 1 && count(names, "wide") <= 34 && count(names, "main") == 1
		}},
		{"heapcfa.c", nil, nil, func(names []string) bool {
			return len(sides(names)) <= 1 && count(names, "main") == 1 &&
				(count(names, "left") == 0 || count(names, "left_under") == 1 && count(names, "on_stack") == 1 && count(names, "left_top") == 1)
		}},
		{"goswing", []string{"CGO_ENABLED=1"}, nil, func(names []string) bool { return len(sides(names)) <= 1 }},
		{"goswing", []string{"CGO_ENABLED=1"}, []string{"leaf"}, func(names []string) bool { return len(sides(names)) <= 1 }},
		{"goqsort", []string{"CGO_ENABLED=1"}, nil, func(names []string) bool {
			outer := count(names, "main.left") > 0 || count(names, "main.right") > 0
			return len(sides(names)) <= 1 && (len(sides(names)) == 0 || outer)
		}},
	} {
		t.Run(strings.Join(append([]string{tt.program}, tt.args...), " "), func(t *testing.T) {
			p := gdbtest.StartRunning(t, gdbtest.Build(t, tt.program, tt.flags...), tt.args...)
			begun, again, n := false, 0, 0
			// Where a thread is when it is stopped is chance. So try until a thread was read once
			// more.
			for ; n < attaches() || n < 5000 && again == 0; n++ {
				stacks, more := settled(t, p.PID)
				if begun = begun || len(stacks) > 1 || tt.check(stacks[0]); !begun {
					n--
					continue // the thread is not there yet
				}
				again += more
				for _, names := range stacks {
					if (len(stacks) == 1 || len(sides(names)) > 0) && !tt.check(names) {
						t.Fatalf("attach %d: %q", n, names)
					}
				}
			}
			t.Logf("%d attaches, %d threads were read once more", n, again)
			if again == 0 {
				t.Error("no thread was read once more: the test has not tested anything")
			}
		})
	}
}

// The threads of a process that stands still have not moved on, whether they are on their own
// stacks, in the vDSO, or called from a goroutine's stack.
func TestSettleStopped(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "goqsort", "CGO_ENABLED=1"), "now")
	seen := 0
	for n := 0; n < attaches()/2 || n < 1000 && seen == 0; n++ {
		p.Stop(t)
		stacks, _ := settled(t, p.PID)
		for _, names := range stacks {
			if i := slices.Index(names, "time.now"); i > 0 && slices.Contains(names, "main.now") {
				seen++
			}
		}
		p.Continue(t)
	}
	t.Logf("%d stacks in time.now", seen)
	if seen == 0 {
		t.Error("no stack was in time.now: the test has not tested anything")
	}
}

// A Walker also says that the thread has moved on, and walks it while it is held.
func TestWalkerMovedOn(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "pendulum.c", gdbtest.Plain...))
	tg, threads := attach(t, p.PID)
	defer tg.Close()
	th := threads[0].(*live.Thread)
	w := frame.NewWalker(tg.Modules(), sniffer.Table(tg.Arch()))
	pcs := make([]uint64, 1000)
	walk := func() (n int, stop frame.StopReason) {
		var regs arch.Registers
		if err := th.Registers(&regs); err != nil {
			t.Fatal(err)
		}
		n, stop = w.Walk(&regs, th.Memory(), pcs)
		if w.MovedOn() != th.MovedOn() {
			t.Fatalf("the walker says %v, the thread %v", w.MovedOn(), th.MovedOn())
		}
		ctx := frame.NewContext(tg.Arch(), &regs)
		for w.Step(&ctx, th.Memory()) == frame.NoReason {
		}
		if ctx.MovedOn != th.MovedOn() {
			t.Fatalf("the context says %v, the thread %v", ctx.MovedOn, th.MovedOn())
		}
		return n, stop
	}
	moved := 0
	for n := 0; n < attaches() || n < 5000 && moved == 0; n++ {
		var stop frame.StopReason
		depth := 0
		for again := 0; ; again++ {
			if depth, stop = walk(); !w.MovedOn() {
				break
			}
			if moved++; again == 5 {
				t.Fatal("read five times, the thread has still moved on")
			}
			if err := th.Retake(func() { walk() }); err != nil {
				t.Fatal(err)
			}
		}
		if stop != frame.Outermost {
			t.Fatalf("%d frames, %s", depth, stop)
		}
		if err := th.Retake(func() {}); err != nil { // somewhere else
			t.Fatal(err)
		}
	}
	t.Logf("%d times the thread had moved on", moved)
	if moved == 0 {
		t.Error("the thread has never moved on: the test has not tested anything")
	}
}
