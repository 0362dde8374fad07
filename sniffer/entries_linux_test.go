package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// An interpreter jumps to its functions, so their return addresses follow no call. The program
// itself says what they are.
func TestReturnEntries(t *testing.T) {
	program := gdbtest.Build(t, "entries.c", "-O2")
	im := walktest.Open(t, program)
	at := func(name string) uint64 {
		s := im.Lookup(name, 1)
		if len(s) != 1 {
			t.Fatalf("no symbol %s", name)
		}
		return s[0].Addr
	}
	p := gdbtest.Start(t, program)
	tg, threads := attach(t, p.PID)
	defer tg.Close()
	stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	var pcs []uint64
	outer := ""
	for f, err := range stack.All() {
		switch {
		case err != nil:
			t.Error(err)
		case f.Module() == nil:
			if pcs = append(pcs, f.PC()); f.Row().Flags&trad.Guess == 0 {
				t.Errorf("%v is no guess", f)
			}
		case len(pcs) > 0 && outer == "":
			outer = f.Module().Path
		}
	}
	if len(pcs) != 4 || outer != program {
		t.Fatalf("%d frames in code without file, called by %q", len(pcs), outer)
	}
	for i, pc := range pcs {
		want := at("interp_entry")
		if i == 0 {
			want = at("interp_called")
		}
		if got := pc - pcs[0]; got != want-at("interp_called") {
			t.Errorf("frame %d of them is %d bytes behind the first", i, got)
		}
	}
	bothWays(t, p.PID)
}
