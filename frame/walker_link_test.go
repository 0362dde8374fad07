package frame_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

func (f linkFake) Threads() ([]target.Thread, error) { return []target.Thread{f.fake}, nil }

// If calls push nothing, two frames may have the same CFA, but not three, and not a frame and the
// same one again.
func TestWalkerSameCFA(t *testing.T) {
	size := func(n int32, ra int32) trad.Row {
		return trad.Row{
			CFA: trad.Rule{Kind: trad.InReg, Reg: xsp, Off: n},
			RA:  trad.Rule{Kind: trad.Saved, Off: ra},
			FP:  trad.Rule{Kind: trad.Same},
		}
	}
	end := size(16, -8)
	end.Flags = trad.Outermost
	f := newLinkFake(0x1010, stackBase, 0, 0x1f00, 0, 0x1100, 0, 0x1200, 0x1300, 0x1400, 0x1200)
	at := map[uint64]trad.Row{0x1010: size(16, -8), 0x10ff: size(16, -8), 0x11ff: size(0, 0), 0x12ff: size(16, -8), 0x13ff: end}
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100, 0x1200, 0x1300, 0x1400}, frame.Outermost)
	at[0x12ff] = size(0, 8) // a third
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100, 0x1200}, frame.SameID)
	byFP := size(48, -8) // calls itself, and its frame pointer stays: after two cached frames comes the second once more
	byFP.CFA.Reg = x29
	loop := newLinkFake(0x1010, stackBase, stackBase, 0x1f00, 0, 0x1100, 0, 0, 0, 0x1100)
	check(t, loop, []frame.Sniffer{&rows{name: "rows", at: map[uint64]trad.Row{0x1010: size(16, -8), 0x10ff: byFP}}}, []uint64{0x1010, 0x1100}, frame.SameID)
	at[0x11ff] = size(0, 16) // the same: 0x1200 is called from 0x1200
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100, 0x1200}, frame.SameID)
}

// If frame records may lie anywhere in the frame, a chain of them does not tell SP. Then a caller
// that needs SP cannot be unwound, and one with a frame pointer can.
func TestWalkerLostSP(t *testing.T) {
	chain := trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: x29, Off: 16},
		RA:     trad.Rule{Kind: trad.Saved, Off: -8},
		FP:     trad.Rule{Kind: trad.Saved, Off: -16},
		Others: &trad.OtherRules{Regs: []trad.RegRule{{Reg: xsp}}},
	}
	known := chain
	known.Others = nil
	const sp = stackBase
	f := newLinkFake(0x1010, sp, sp, 0x1f00, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300, 0, 0x1400)
	at := map[uint64]trad.Row{0x1010: chain, 0x10ff: known, 0x11ff: saver, 0x12ff: saver}
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.MemoryError)
	at[0x10ff] = saver
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100}, frame.Unavailable)
}

// Rows are found although return addresses are signed.
func TestWalkerSigned(t *testing.T) {
	const signed = 0x2a << 48
	f := newLinkFake(signed|0x1010, stackBase, 0x77, 0x1f00, stackBase+32, signed|0x1100, 0, 0, 0, signed|0x1200, 0, 0)
	end := saver
	end.Flags = trad.Outermost
	at := map[uint64]trad.Row{0x1010: saver, 0x10ff: saver, 0x11ff: end}
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100, 0x1200}, frame.Outermost)
}
