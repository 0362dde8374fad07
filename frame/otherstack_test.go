package frame_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// switched is the row of a coroutine's first function. At its CFA are the resumer's SP and
// FP; the resumer's PC is on the resumer's stack.
func switched(flags trad.Flags) trad.Row {
	return trad.Row{
		Flags:  flags,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 8},
		RA:     trad.Rule{Kind: trad.Saved, Off: 8},
		FP:     trad.Rule{Kind: trad.Saved, Off: 16},
		Others: &trad.OtherRules{Regs: []trad.RegRule{{Reg: amd64.RSP, Rule: trad.Rule{Kind: trad.Saved}}}},
	}
}

// A coroutine's stack lies outward of the one that has resumed it.
func TestOtherStack(t *testing.T) {
	f := newFake(0x1010, 0x7080, 0x7090,
		0, 0, 0x7040, 0x1301, 0, 0, 0, 0, // 0x7000: the resumer: its FP, 0x7010, leads to the caller's
		0, 0x1400, 0, 0, 0, 0, 0, 0, // 0x7040: the caller's, which is outermost
		0, 0, 0x70b0, 0x1101, 0, 0x7000, 0x1201, 0x7010, // 0x7080: the coroutine; at 0x70a8, the resumer's SP
	)
	at := map[uint64]trad.Row{
		0x1010: fp, 0x1100: switched(trad.OtherStack), 0x1200: fp,
		0x1300: {Flags: trad.Outermost, CFA: fp.CFA},
	}
	pcs, last, err := unwind(t, f, &rows{name: "rows", at: at})
	if want := []uint64{0x1010, 0x1101, 0x1201, 0x1301}; err != nil || !slices.Equal(pcs, want) {
		t.Fatalf("the stack is %#x, %v; want %#x", pcs, err, want)
	}
	if last.Next().Next().Type() != frame.OtherStack {
		t.Errorf("the switch is a frame of type %v", last.Next().Next().Type())
	}
	if sp := last.Next().Register(amd64.RSP); sp.Bits != 0x7000 {
		t.Errorf("SP of the resumer is %v", sp)
	}

	at[0x1100] = switched(trad.Guess) // a guess must not lead inward
	var stop *frame.StopError
	if _, _, err = unwind(t, f, &rows{name: "rows", at: at}); !errors.As(err, &stop) || stop.Reason != frame.InnerID {
		t.Errorf("a guess, without a word about the other stack: %v", err)
	}
}

// Two switches that lead to each other end the stack.
func TestOtherStackCycle(t *testing.T) {
	f := newFake(0x1101, 0x7000, 0,
		0, 0x7020, 0x1201, 0, // 0x7000: leads to 0x7020
		0, 0x7000, 0x1101, 0, // 0x7020: and back
	)
	at := map[uint64]trad.Row{0x1100: switched(trad.OtherStack), 0x1101: switched(trad.OtherStack), 0x1200: switched(trad.OtherStack)}
	var stop *frame.StopError
	if pcs, _, err := unwind(t, f, &rows{name: "rows", at: at}); !errors.As(err, &stop) || stop.Reason != frame.SameID {
		t.Errorf("%d frames, %v", len(pcs), err)
	}
}

// picky claims frames by a register that is not in a Walker's Context.
type picky struct{ asked int }

func (*picky) Name() string { return "picky" }

func (s *picky) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	s.asked++
	if v := q.This.Register(amd64.RBX); v.Bits != 0xb {
		return trad.Row{}, "RBX is not what the thread has"
	}
	row := fp
	row.Lo, row.Len = q.AddressInBlock, 1
	if row.Others = (&trad.OtherRules{Default: trad.Same}); q.This.Level == 2 {
		row.Flags = trad.Outermost
	}
	return row, frame.Claimed
}

// A sniffer gets all registers from a Walker, too, and is asked once for each frame.
func TestWalkerNeedsAllRegisters(t *testing.T) {
	f := newFake(0x1010, 0x7000, 0x7000, 0x7010, 0x1101, 0x7020, 0x1201, 0, 0)
	var s picky
	pcs, _, err := unwind(t, f, &s)
	want := []uint64{0x1010, 0x1101, 0x1201}
	if err != nil || !slices.Equal(pcs, want) {
		t.Fatalf("the stack is %#x, %v", pcs, err)
	}
	if err := walktest.New(f.mods, frame.NewTable(amd64.Arch, &s)).Check(f, f); err != nil {
		t.Error(err)
	}
	s = picky{}
	w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, &s))
	if n, stop := w.Walk(regs(f), f, make([]uint64, 9)); n != len(want) || stop != frame.Outermost || s.asked != n {
		t.Errorf("%d frames, %v; asked %d times", n, stop, s.asked)
	}
}

// endless is a sniffer that invents frames: by its rows the stack always goes on outward.
type endless struct {
	flags trad.Flags
	asked uint64
}

func (*endless) Name() string { return "endless" }

func (s *endless) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	s.asked++
	return trad.Row{
		Lo: q.AddressInBlock, Len: 1, Flags: trad.Once | s.flags,
		CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 16},
		RA:  trad.Rule{Kind: trad.InReg, Reg: amd64.RBX},
		// Without it, RBX of the next outer frame would not be known.
		Others: &trad.OtherRules{Default: trad.Same},
	}, frame.Claimed
}

// An invented stack ends where there is no memory, or after many signal or OtherStack frames.
func TestEndless(t *testing.T) {
	for _, flags := range []trad.Flags{0, trad.OtherStack, trad.Signal} {
		f := newFake(0x1010, 0x7000, 0, 0, 0, 0, 0)
		f.regs[amd64.RBX] = 0x1010
		s, err := frame.New(f, f, frame.NewTable(amd64.Arch, &endless{flags: flags}))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range s.All() {
			if n++; n > 1<<20 {
				t.Fatalf("flags %v: the stack does not end", flags)
			}
		}
		t.Logf("flags %v: %d frames", flags, n)
		if n < 64 {
			t.Errorf("flags %v: %d frames: nothing is tested", flags, n)
		}
		if _, stop := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, &endless{flags: flags})).Walk(regs(f), f, make([]uint64, 100_000)); stop == frame.Limit {
			t.Errorf("flags %v: the walk does not end", flags)
		}
	}
}

func regs(f *fake) *arch.Registers {
	var r arch.Registers
	f.Registers(&r)
	return &r
}
