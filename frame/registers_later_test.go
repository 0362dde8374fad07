package frame_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// New modules clear the cache of later rows.
func TestLaterRowsAreForgotten(t *testing.T) {
	less := spRow(16)
	more := less
	more.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -16}}}}
	later := fixed{0x1010: more}
	table := frame.NewTable(amd64.Arch, fixed{0x1010: less, 0x10ff: outermost(less)}, later)
	for _, want := range []uint64{0x55, 0xb} { // saved; live
		f := newFake(0x1010, stackBase, 0, 0x55, 0x1100)
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		f1, err := s.Frame(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := f1.Register(amd64.RBX); got.Bits != want {
			t.Errorf("rbx is %v, want %#x", got, want)
		}
		more.Others = &trad.OtherRules{Default: trad.Same}
		later[0x1010] = more
	}
}

// Later rows complete frame after frame. A register that they call unchanged is found further in. A
// later row is not used if its CFA is another one, or if it is for PC-1 and the frame's address in
// block is PC.
func TestLaterRows(t *testing.T) {
	const sp = stackBase
	same := &trad.OtherRules{Default: trad.Same}
	less := spRow(16)
	less.Others = &trad.OtherRules{} // tracks no more than SFrame
	more := spRow(16)
	more.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
		{Reg: amd64.RAX, Rule: trad.Rule{Kind: trad.Value, Off: 5}},
		{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -16}},
	}}
	plain, unchanged := spRow(16), spRow(16)
	unchanged.Others = same
	words := []uint64{0x55, 0x1100, 1, 0x1200, 2, 0x1300, 3, 0x1400}
	first := fixed{0x1010: less, 0x10ff: plain, 0x11ff: plain, 0x12ff: plain, 0x13ff: outermost(plain)}
	later := fixed{0x1010: more, 0x10ff: unchanged, 0x11ff: unchanged, 0x12ff: unchanged}
	for range 2 {
		table := frame.NewTable(amd64.Arch, first, later)
		for range 2 {
			f := newFake(0x1010, sp, 0, words...)
			s, err := frame.New(f, f, table)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range []int{4, 2, 1, 3} {
				x, err := s.Frame(level)
				if err != nil {
					t.Fatal(err)
				}
				if v := x.Register(amd64.RBX); v.Bits != 0x55 {
					t.Errorf("rbx of %v is %v", x, v)
				}
				var all arch.Registers
				if x.Registers(&all); all.Value[amd64.RBX] != 0x55 || all.Known.Has(amd64.RAX) != (level == 1) || level == 1 && all.Value[amd64.RAX] != sp+16+5 {
					t.Errorf("registers of %v: rbx %#x, rax %#x (%v)", x, all.Value[amd64.RBX], all.Value[amd64.RAX], all.Known.Has(amd64.RAX))
				}
			}
		}
	}

	// For one of two threads the later row's CFA differs from the winner's. The other thread
	// can still use the row.
	byFP := more
	byFP.CFA.Reg = amd64.RBP
	table := frame.NewTable(amd64.Arch, fixed{0x1010: plain, 0x10ff: outermost(plain)}, fixed{0x1010: byFP})
	mods := newFake(0, 0, 0).mods
	for _, rbp := range []uint64{sp, sp + 8, sp} {
		f := newFake(0x1010, sp, rbp, 0x55, 0x1100, 0, 0)
		f.mods = mods
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		f1, err := s.Frame(1)
		if err != nil {
			t.Fatal(err)
		}
		if v := f1.Register(amd64.RBX); v.Known() != (rbp == sp) {
			t.Errorf("RBP %#x: rbx is %v", rbp, v)
		}
	}

	// A PC as a return address, and as a signal's.
	table = frame.NewTable(amd64.Arch, fixed{0x1010: less, 0x10ff: plain, 0x1100: plain, 0x11ff: outermost(plain)}, fixed{0x1010: more, 0x10ff: unchanged, 0x1100: more})
	for _, tt := range []struct {
		pc, want uint64
		level    int
	}{{0x1010, 0x55, 2}, {0x1100, 0x66, 1}} {
		f := newFake(tt.pc, sp, 0, 0x55, 0x1100, 0x66, 0x1200, 0, 0)
		if tt.pc == 0x1100 {
			f.words = []uint64{0x66, 0x1200, 0, 0}
		}
		f.mods = mods
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Frame(tt.level)
		if err != nil {
			t.Fatal(err)
		}
		if v := x.Register(amd64.RBX); v.Bits != tt.want {
			t.Errorf("from %#x: rbx of %v is %v, want %#x", tt.pc, x, v, tt.want)
		}
	}
}

// The order of two frames at a PC does not matter. If the first sniffer's row cannot be applied to
// one of them, the other still gets it.
func TestRowsInAnyOrder(t *testing.T) {
	const sp = stackBase
	byFP := spRow(16)
	byFP.CFA.Reg = amd64.RBP
	mods := newFake(0, 0, 0).mods
	for _, known := range [][]bool{{true, false, true}, {false, true}} {
		table := frame.NewTable(amd64.Arch, fixed{0x1010: byFP, 0x10ff: outermost(fp)}, fixed{0x1010: spRow(8)})
		for _, k := range known {
			f := newFake(0x1010, sp, sp+8, 0x1100, 0, 0x1100)
			f.mods = mods
			want := "first"
			if !k {
				delete(f.regs, amd64.RBP)
				want = "second"
			}
			s, err := frame.New(f, f, table)
			if err != nil {
				t.Fatal(err)
			}
			f0, _ := s.Frame(0)
			if cfa, ok := f0.CFA(); !ok || (cfa == sp+24) != k {
				t.Errorf("FP known: %v: CFA %#x is not by the %s sniffer", k, cfa, want)
			}
		}
	}
}
