//go:build linux && (amd64 || arm64)

package delve_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func all(*proc.G) bool       { return true }
func running(g *proc.G) bool { return g.Thread != nil }

// Stacks of Go alone agree with Delve's own, in all states of goroutines and wherever the process
// is stopped.
func TestGoroutines(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"))
	var sum tally
	for i := range 10 {
		grp := delvetest.Attach(t, p.PID)
		c := compare(t, grp.Selected, 60)
		c.tally = sum
		if i == 0 {
			c.goroutines(all)
			if c.stacks < 900 {
				t.Errorf("%d goroutines", c.stacks)
			}
			deep := compare(t, grp.Selected, 5000)
			deep.goroutines(func(g *proc.G) bool {
				frames, err := proc.GoroutineStacktrace(grp.Selected, g, c.depth, 0)
				return err == nil && len(frames) > c.depth
			})
			if deep.frames < 6000 {
				t.Errorf("%d frames of deep recursions", deep.frames)
			}
		}
		c.goroutines(running)
		c.threads()
		if err := grp.Detach(false); err != nil {
			t.Fatal(err)
		}
		if sum = c.tally; t.Failed() {
			break
		}
	}
	sum.report(t)
}

// chains are stacks of threads of testdata/progs/delvego; the source tells them.
var chains = []string{
	"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.read syscall.Read main.blockedRead main.alone.gowrap1 runtime.goexit",
	"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.read syscall.Read main.blockedRead main.alone.func2 runtime.goexit",
	"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.read syscall.Read internal/poll.ignoringEINTRIO " +
		"internal/poll.(*FD).Read os.(*File).read os.(*File).Read main.main runtime.main runtime.goexit",
}

// Without DWARF, Delve loses frames of threads, as is recorded here. The function table has all of
// them.
func TestWithoutDWARF(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64", "-ldflags=-w"), "quiet")
	pt := delvetest.Attach(t, p.PID).Selected
	tg := open(t, pt)
	found := make(map[string]int)
	for _, th := range pt.ThreadList() {
		frames, err := delve.Stacktrace(tg, delve.Thread(th.ThreadID()), 50)
		if err != nil {
			t.Fatal(err)
		}
		if last := &frames[len(frames)-1]; !last.Bottom || last.Err != "" {
			t.Errorf("the stack ends with %s", describe(last))
		}
		var names []string
		for i := range frames {
			f := &frames[i]
			names = append(names, f.Function.Name())
			if f.Line <= 0 || !strings.HasSuffix(f.File, ".go") && !strings.HasSuffix(f.File, ".s") {
				t.Errorf("frame %d has no line: %s", i, describe(f))
			}
			if f.Function.Name() == "main.blockedRead" && filepath.Base(f.File) != "main.go" {
				t.Errorf("main.blockedRead is in %s", f.File)
			}
		}
		chain := strings.Join(names, " ")
		found[chain]++

		own, err := proc.ThreadStacktrace(pt, th, 50)
		if err != nil {
			t.Fatal(err)
		}
		if plain := delves(own); strings.Contains(plain, "main.blockedRead") &&
			(strings.Contains(plain, "syscall.RawSyscall6") || !strings.HasSuffix(plain, "error: input/output error")) {
			t.Errorf("Delve alone: %s", plain)
		}
	}
	for _, want := range chains {
		if found[want] == 0 {
			t.Errorf("no thread has the stack\n%s\nbut %v", want, found)
		}
	}
}
