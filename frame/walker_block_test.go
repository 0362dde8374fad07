package frame_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// The handler's caller is the signal frame at 0x1100, behind which a signal has interrupted 0x1200;
// its caller is 0x1300. gdb's get_frame_address_in_block has the same rule for all of them.
func TestWalkerInterrupted(t *testing.T) {
	signal, last := fp, fp
	signal.Flags, last.Flags = trad.Signal, trad.Outermost
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: signal, 0x1200: fp, 0x12ff: last}}
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, stackBase+32, 0x1200, stackBase+48, 0x1300, 0, 0)
	var regs arch.Registers
	f.Registers(&regs)
	w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s))
	if got := w.Interrupted(); len(got) != 0 {
		t.Errorf("before the first walk: %v", got)
	}
	pcs := []uint64{0x1010, 0x1100, 0x1200, 0x1300}
	for room, want := range [][]uint64{{}, {0x1010}, {0x1010, 0x1100}, {0x1010, 0x1100, 0x1200}, {0x1010, 0x1100, 0x1200, 0x12ff}} {
		got := make([]uint64, room)
		if n, _ := w.Walk(&regs, f, got); !slices.Equal(got[:n], pcs[:room]) {
			t.Fatalf("walk of %d: %#x", room, got[:n])
		}
		if at := w.Interrupted(); !slices.Equal(at, []int{0, 1, 2}[:min(room, 3)]) {
			t.Errorf("walk of %d: positions %v", room, at)
		}
		if w.AddressesInBlock(got); !slices.Equal(got, want) {
			t.Errorf("walk of %d: addresses %#x, want %#x", room, got, want)
		}
	}
	for n := range pcs { // the inner frames alone
		got := slices.Clone(pcs[:n])
		if w.AddressesInBlock(got); !slices.Equal(got, pcs[:n]) {
			t.Errorf("addresses %#x of %d frames", got, n)
		}
	}
	beyond := slices.Concat(pcs, []uint64{0, 1})
	if w.AddressesInBlock(beyond); !slices.Equal(beyond[3:], []uint64{0x12ff, 0, 0}) {
		t.Errorf("addresses %#x", beyond)
	}
	if n, _ := w.Walk(nil, f, pcs); n != 0 || len(w.Interrupted()) != 0 {
		t.Errorf("a walk without registers has %d frames, positions %v", n, w.Interrupted())
	}
}
