//go:build linux && (amd64 || arm64)

package delve_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Goroutines whose structures and stacks are overwritten give errors or shorter stacks.
func TestBroken(t *testing.T) {
	exe := delvetest.Cgo(t)
	p := gdbtest.StartRunning(t, exe, "main")
	grp := delvetest.Attach(t, p.PID)
	pt := grp.Selected
	tg := open(t, pt)
	list, _, err := proc.GoroutinesInfo(pt, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	load := proc.LoadFullValue()
	whole, short, failed, panics := 0, 0, 0, 0
	for range 500 {
		g := list[r.IntN(len(list))]
		at := address(t, pt, g)
		// Overwrite the g itself (the bounds of its stack, where it was parked, what it has
		// deferred, its thread), or a part of its stack.
		lo, size := at, uint64(440)
		if r.IntN(2) == 0 {
			lo, size = g.SP, 600
		}
		saved := make([]byte, size)
		if n, err := pt.Memory().ReadMemory(saved, lo); err != nil || n < len(saved) {
			continue // less memory than that is mapped
		}
		broken := append([]byte(nil), saved...)
		for range 1 + r.IntN(6) {
			binary.LittleEndian.PutUint64(broken[8*r.IntN(len(broken)/8):], wrong(r, g, at))
		}
		write(t, pt, lo, broken)
		start := bounds.CPUTime()
		for _, o := range []delve.Options{{Depth: 50}, {Depth: 5000, Defers: true}, {Depth: 20, Load: &load}} {
			frames, err := delve.Frames(tg, delve.Goroutine(g.ID), o)
			switch {
			case errors.Is(err, delve.ErrPanic):
				t.Logf("goroutine %d: %v", g.ID, err)
				panics++
			case err != nil:
				failed++
			case len(frames) == 0:
				t.Errorf("goroutine %d: neither frames nor an error", g.ID)
			case frames[len(frames)-1].Err != "":
				short++
			default:
				whole++
			}
			for i := range frames {
				frames[i].Scope()
			}
		}
		if d := bounds.CPUTime() - start; d > 10*time.Second {
			t.Errorf("goroutine %d: %v", g.ID, d)
		}
		write(t, pt, lo, saved)
	}
	t.Logf("%d stacks are whole, %d end early, %d fail, %d of these because Delve panics", whole, short, failed+panics, panics)
	if short < 50 || failed+panics < 10 {
		t.Error("what was overwritten does not matter")
	}
	for _, m := range mixed { // all stacks are as before
		g, _ := find(t, pt, m.contains, m.without)
		frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 100})
		if err != nil {
			t.Fatal(err)
		}
		if got := functions(frames, exe); got != m.want {
			t.Errorf("%s: afterwards the stack is\n%s\nwant\n%s", m.name, got, m.want)
		}
	}
}

// address returns the address of the runtime's structure of a goroutine.
func address(t *testing.T, pt *proc.Target, g *proc.G) uint64 {
	t.Helper()
	v, err := proc.FrameToScope(pt, pt.Memory(), g, 0, proc.Stackframe{}).EvalExpression("runtime.curg", proc.LoadConfig{})
	if err != nil || v.Addr == 0 {
		t.Fatalf("goroutine %d is not found: %v", g.ID, err)
	}
	return v.Addr
}

func wrong(r *rand.Rand, g *proc.G, at uint64) uint64 {
	values := []uint64{0, 1, ^uint64(0), 1 << 63, r.Uint64(), r.Uint64() >> 17, g.SP, g.SP + uint64(r.IntN(400)), g.PC, g.PC + uint64(r.IntN(1000)), g.StartPC, at, at + uint64(r.IntN(440))}
	return values[r.IntN(len(values))]
}

// write changes memory as the process itself would.
func write(t *testing.T, pt *proc.Target, addr uint64, data []byte) {
	t.Helper()
	if n, err := pt.Memory().WriteMemory(addr, data); err != nil || n < len(data) {
		t.Fatalf("write %d bytes at %#x: %d, %v", len(data), addr, n, err)
	}
	pt.ClearCaches()
}

func TestWho(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	grp := delvetest.Attach(t, p.PID)
	tg := open(t, grp.Selected)
	if _, err := delve.Stacktrace(tg, delve.Goroutine(-1), -1); err == nil {
		t.Error("a negative depth is no error")
	}
	if _, err := delve.Stacktrace(tg, delve.Goroutine(123456789), 5); err == nil {
		t.Error("there is a goroutine 123456789")
	}
	if _, err := delve.Stacktrace(tg, delve.Thread(1), 5); err == nil {
		t.Error("there is a thread 1")
	}
	selected, err := delve.Stacktrace(tg, delve.Goroutine(-1), 1<<30)
	if err != nil || !selected[len(selected)-1].Bottom {
		t.Errorf("the selected goroutine: %v", err)
	}
	for depth := range len(selected) {
		list, err := delve.Stacktrace(tg, delve.Goroutine(-1), depth)
		if err != nil || len(list) != depth+1 || describe(&list[depth]) != describe(&selected[depth]) {
			t.Errorf("depth %d: %d frames, %v", depth, len(list), err)
		}
	}
	if err := grp.Detach(false); err != nil {
		t.Fatal(err)
	}
	if _, err := delve.Stacktrace(tg, delve.Goroutine(-1), 5); !errors.Is(err, proc.ErrProcessDetached) {
		t.Errorf("after Delve has let go: %v", err)
	}
	if _, err := tg.Threads(); !errors.Is(err, proc.ErrProcessDetached) {
		t.Errorf("threads after Delve has let go: %v", err)
	}
}
