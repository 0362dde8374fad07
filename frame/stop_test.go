package frame_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

func TestStopReasons(t *testing.T) {
	const sp = stackBase
	for _, tt := range []struct {
		name  string
		words []uint64 // at sp: saved FP, return address, …
		pcs   []uint64
		want  frame.StopReason
	}{
		{"zeros, by a table", []uint64{sp + 16, 0x1100, 0, 0}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"no saved PC", []uint64{sp + 16, 0x1100, 0xdead0, 0}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"PC outside code", []uint64{sp + 16, 0x1100, 0, 0x99999999}, []uint64{0x1010, 0x1100, 0x99999999}, frame.NotCode},
		{"frame pointer to nowhere", []uint64{0x90000, 0x1100}, []uint64{0x1010, 0x1100}, frame.MemoryError},
		{"frame pointer to itself, other PC", []uint64{sp, 0x1100}, []uint64{0x1010}, frame.SameID},
		{"frame pointer to itself, same PC", []uint64{sp, 0x1010}, []uint64{0x1010}, frame.SameID},
		{"inward", []uint64{sp + 32, 0x1100, sp + 16, 0x1200, sp + 16, 0x1300}, []uint64{0x1010, 0x1100, 0x1300}, frame.InnerID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pcs, last, err := unwind(t, newFake(0x1010, sp, sp, tt.words...), everywhere{fp})
			if fmt.Sprint(pcs) != fmt.Sprint(tt.pcs) || last.StopReason() != tt.want {
				t.Errorf("PCs %#x stopped by %v, want %#x by %v", pcs, last.StopReason(), tt.pcs, tt.want)
			}
			var stop *frame.StopError
			if !errors.As(err, &stop) || stop.Reason != tt.want || stop.Level != last.Level {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// The ABI's zero frame record ends a chain of frame pointers, and a table says
// it outright.
func TestOutermost(t *testing.T) {
	chain := fp
	chain.Flags = trad.Once
	marked := fp
	marked.Flags = trad.Outermost
	for _, row := range []trad.Row{chain, marked} {
		pcs, last, err := unwind(t, newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0), &rows{name: "rows", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: row}})
		if fmt.Sprintf("%#x", pcs) != "[0x1010 0x1100]" || last.StopReason() != frame.Outermost || err != nil {
			t.Errorf("PCs %#x, %v, %v", pcs, last.StopReason(), err)
		}
	}
}

func TestNobodyClaims(t *testing.T) {
	pcs, last, err := unwind(t, newFake(0x1010, stackBase, 0), &rows{name: "none"})
	if len(pcs) != 1 || last.StopReason() != frame.Unavailable || err == nil {
		t.Errorf("PCs %#x, %v, %v", pcs, last.StopReason(), err)
	}
	if c := last.Claim(); c.Sniffer != "" || len(c.Declined) != 1 || c.Declined[0].Reason != "no row for the address" {
		t.Errorf("claim %+v", c)
	}
	if !last.ID().Null() {
		t.Errorf("ID %v of a frame that nobody can unwind", last.ID())
	}
}

func TestLimit(t *testing.T) {
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0)
	s, _ := frame.New(f, f, frame.NewTable(amd64.Arch, everywhere{fp}))
	s.Limit = 1
	f0, err := s.Frame(0)
	if err != nil || f0.StopReason() != frame.Limit {
		t.Errorf("%v, %v", f0.StopReason(), err)
	}
}

// A signal frame's ucontext leads back to a frame that the stack has already.
func TestSignalCycle(t *testing.T) {
	trampoline := trad.Row{
		Flags:  trad.Signal,
		CFA:    trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP},
		RA:     trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 8},
		FP:     trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Regs: []trad.RegRule{{Reg: amd64.RSP, Rule: trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP}}}},
	}
	// Two trampolines, each saying that it interrupted the other.
	f := newFake(0x1010, stackBase, 0, stackBase+16, 0x1020, stackBase, 0x1010)
	_, last, err := unwind(t, f, everywhere{trampoline})
	if last.StopReason() != frame.SameID || err == nil {
		t.Errorf("stopped by %v, %v", last.StopReason(), err)
	}
}
