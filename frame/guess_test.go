package frame_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// A guess must lead to code. If it does not, another guess that does wins; if there is
// none, no sniffer claims the frame.
func TestGuessLeadsToCode(t *testing.T) {
	guess := func(off int32) trad.Row {
		return trad.Row{
			Flags: trad.Guess,
			CFA:   trad.Rule{Kind: trad.InReg, Reg: xsp, Off: 32},
			RA:    trad.Rule{Kind: trad.Saved, Off: off},
			FP:    trad.Rule{Kind: trad.Same},
		}
	}
	f := newLinkFake(0x1010, stackBase, 0, 0, 0x7777, 0x1100, 0, 0)
	wrong := &rows{name: "wrong", at: map[uint64]trad.Row{0x1010: guess(-32)}}
	right := &rows{name: "right", at: map[uint64]trad.Row{0x1010: guess(-24)}}
	if list := linkStack(t, f, wrong, right); len(list) != 2 || list[0].Sniffer() != "right" || list[1].PC() != 0x1100 {
		t.Errorf("stack %v", list)
	}
	list := linkStack(t, f, wrong)
	if len(list) != 1 || list[0].Sniffer() != "" || list[0].StopReason() != frame.Unavailable {
		t.Fatalf("stack %v", list)
	}
	if _, err := list[0].Prev(); err == nil || !strings.Contains(err.Error(), "wrong: it is a guess, and leads to no code") {
		t.Errorf("%v", err)
	}
	if c := list[0].Claim(); len(c.Declined) != 1 || !strings.Contains(c.Declined[0].Reason, "leads to no code") {
		t.Errorf("declined: %+v", c.Declined)
	}
}
