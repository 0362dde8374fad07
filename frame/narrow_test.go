package frame_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Registers that are narrower than a word are so wherever they come from: the thread,
// memory, another register, a number. Selectors have 16 bits, eflags has 32.
func TestNarrowRegisters(t *testing.T) {
	const garbage = 0x1122_3344_5566_0000
	saves := spRow(32)
	saves.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
		{Reg: amd64.RFLAGS, Rule: trad.Rule{Kind: trad.Saved, Off: -24}},
		{Reg: amd64.CS, Rule: trad.Rule{Kind: trad.Saved, Off: -16}},
		{Reg: amd64.SS, Rule: trad.Rule{Kind: trad.InReg, Reg: amd64.RBX}},
		{Reg: amd64.DS, Rule: trad.Rule{Kind: trad.InReg, Reg: amd64.RBX, Off: 1}},
		{Reg: amd64.FS, Rule: trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 18}}, // one of four in a word
	}}
	next := spRow(8)
	next.Others = &trad.OtherRules{Default: trad.Same}
	f := newFake(0x1010, stackBase, 0, 0, 0x9988_7766_5544_0246, garbage|0x33, 0x1100, 0x1200)
	f.regs[amd64.RBX] = garbage | 0x2b
	f.regs[amd64.GS] = garbage | 0x63
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: saves, 0x10ff: next, 0x11ff: outermost(spRow(8))}}))
	if err != nil {
		t.Fatal(err)
	}
	f2, err := s.Frame(2)
	if err != nil || f2 == nil {
		t.Fatal(f2, err)
	}
	f1 := f2.Next()
	f0 := f1.Next()
	if v := f0.Register(amd64.GS); v.Bits != 0x63 {
		t.Errorf("gs of frame 0 is %v", v)
	}
	for _, x := range []struct {
		r    trad.Reg
		want uint64
	}{{amd64.RFLAGS, 0x5544_0246}, {amd64.CS, 0x33}, {amd64.SS, 0x2b}, {amd64.DS, 0x2c}, {amd64.FS, 0x5566}, {amd64.GS, 0x63}} {
		var all arch.Registers
		f1.Registers(&all)
		if v := f1.Register(x.r); v.Bits != x.want || all.Value[x.r] != x.want {
			t.Errorf("%s of frame 1 is %v, %#x, want %#x", amd64.Arch.RegName(x.r), v, all.Value[x.r], x.want)
		}
		if f2.Registers(&all); x.r != amd64.RFLAGS && all.Value[x.r] != x.want {
			t.Errorf("%s of frame 2 is %#x, want %#x", amd64.Arch.RegName(x.r), all.Value[x.r], x.want)
		}
	}
}

// An access register that is saved takes up 4 bytes, which are the first of a word on a
// big-endian processor.
func TestSavedNarrow(t *testing.T) {
	memory := []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}
	if v := s390x.Arch.Saved(s390x.ACR0, binary.BigEndian.Uint64(memory)); v != 0x11223344 {
		t.Errorf("%#x", v)
	}
	if v := amd64.Arch.Saved(amd64.CS, binary.LittleEndian.Uint64(memory)); v != 0x2211 {
		t.Errorf("%#x", v)
	}
}
