package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// A frame is found by its ID in another stack of the thread. What it says of PREVIOUS is the same
// whether PREVIOUS is there or not.
func TestFind(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", "-g", "-O2"))
	target, err := live.Attach(t.Context(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	threads, err := target.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack := func(limit int) *frame.Stack {
		s, err := frame.New(target, threads[0], sniffer.Table(target.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		s.Limit = limit
		return s
	}
	whole, again := stack(0), stack(0)
	n := 0
	for f, err := range whole.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		found, err := again.Find(f.ID())
		if err != nil || found == nil || found.Level != f.Level || found.PC() != f.PC() {
			t.Fatalf("%v: found %v, %v", f, found, err)
		}
		if addr, ok := f.Function(); ok != (f.ID().Has&frame.HasCode != 0) || addr != f.ID().Code {
			t.Errorf("%v: function %#x, %t", f, addr, ok)
		}
		short := stack(f.Level + 1)
		last, err := short.Frame(f.Level)
		if err != nil {
			t.Fatal(err)
		}
		prev, err := f.Prev()
		if err != nil {
			t.Fatal(err)
		}
		if none, err := last.Prev(); none != nil || prev != nil && err == nil {
			t.Fatalf("%v: %v, %v beyond the limit", last, none, err)
		}
		for _, r := range target.Arch().Regs {
			got := last.PrevRegister(r.Num)
			if prev == nil {
				if got.Known() && r.Num == target.Arch().PC {
					t.Errorf("%v is outermost: %s of PREVIOUS is %v", f, r.Name, got)
				}
				continue
			}
			if want := prev.Register(r.Num); got.Known() != want.Known() || got.Known() && got.Bits != want.Bits {
				t.Errorf("%v: %s of PREVIOUS is %v, want %v", f, r.Name, got, want)
			}
		}
	}
	if n < 4 {
		t.Errorf("%d frames", n)
	}
	if f, err := again.Find(frame.ID{Stack: 8, Has: frame.HasStack}); f != nil || err != nil {
		t.Errorf("found %v, %v", f, err)
	}
	// A frame that is gone is not looked for beyond its place: the stack does not come to its
	// limit.
	f, err := again.Frame(3)
	if err != nil {
		t.Fatal(err)
	}
	cfa, _ := f.CFA()
	gone, further := frame.ID{Stack: cfa - 1, Has: frame.HasStack}, frame.ID{Stack: cfa + 1<<16, Has: frame.HasStack}
	if f, err := stack(5).Find(gone); f != nil || err != nil {
		t.Errorf("a frame inner to frame 3: found %v, %v", f, err)
	}
	if f, err := stack(5).Find(further); f != nil || err == nil {
		t.Errorf("a frame that may be beyond the limit: found %v, %v", f, err)
	}
}
