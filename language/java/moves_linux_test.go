package java_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestMoves: the stack of a thread that has frames of a virtual thread moved from the heap goes on
// with the frames of the thread that carries it, and says that others are missing.
func TestMoves(t *testing.T) {
	for _, bin := range machines(t) {
		t.Run(filepath.Base(filepath.Dir(bin)), func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command(filepath.Join(bin, "javac"), "-d", dir, "testdata/Yields.java").CombinedOutput(); err != nil {
				t.Fatalf("javac: %v\n%s", err, out)
			}
			p := gdbtest.StartRunning(t, filepath.Join(bin, "java"), "-Xint", "-Xmx128m", "-cp", dir, "Yields")
			seen := 0
			gdbtest.Await(t, "threads have frames moved", func() bool {
				seen += moves(t, p.PID)
				return seen >= 2 || t.Failed()
			})
		})
	}
}

// moves looks once at each thread of a process, and returns how many had frames moved.
func moves(t *testing.T, pid int) (n int) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, runtimes := findIn(t, tg)
	for _, th := range threads {
		running := th.(target.RunningThread)
		var moved, faults []string
		look := func() { moved, faults = movesOf(tg, th, runtimes) }
		look()
		for tries := 0; running.MovedOn() && tries < 100; tries++ {
			if running.Retake(look) != nil {
				break // it has ended
			}
		}
		if running.MovedOn() {
			continue
		}
		n += len(moved)
		for _, fault := range faults {
			t.Error(fault)
		}
	}
	return n
}

// movesOf walks a thread, and returns the names of the stubs that have frames moved, and what is
// wrong with the stack.
func movesOf(tg target.Target, th target.Thread, runtimes []language.Named) (moved, faults []string) {
	stack, err := frame.New(tg, th, sniffer.Table(tg.Arch()))
	if err != nil {
		return nil, nil // it has ended
	}
	s := &language.Stack{Arch: tg.Arch(), Thread: th, Memory: target.MemoryOf(tg, th)}
	for f, err := range stack.All() {
		if err != nil {
			break
		}
		s.Frames = append(s.Frames, f)
	}
	d := language.Decorate(s, runtimes)
	for level := 1; d != nil && level < len(s.Frames); level++ {
		if x := d.At[level]; x == nil || !strings.HasPrefix(x.Name, "StubRoutines (continuation") {
			continue
		}
		moved = append(moved, d.At[level].Name)
		var carrier []string
		for outer := level + 1; outer < len(s.Frames); outer++ {
			if x := d.At[outer]; x != nil {
				for _, f := range x.Frames {
					carrier = append(carrier, f.Function)
				}
			}
		}
		last := s.Frames[len(s.Frames)-1]
		if by := s.Frames[level].Sniffer(); by != "hotspot" || last.StopReason() != frame.Outermost ||
			!strings.HasPrefix(strings.Join(carrier, " "), "jdk.internal.vm.Continuation.run ") || !strings.Contains(strings.Join(d.Warnings, " "), "being moved from the heap") {
			faults = append(faults, fmt.Sprintf("level %d of %d, by %q, the stack ends with %v; frames of the carrier: %v; warnings: %v", level, len(s.Frames), by, last.StopReason(), carrier, d.Warnings))
		}
	}
	return moved, faults
}
