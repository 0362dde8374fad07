package frame_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// A machine whose calls leave the return address in a register, as arm64's do
// (AAPCS64: x29 is FP, x30 the link register), with signed return addresses.
const (
	x29 trad.Reg = 29
	x30 trad.Reg = 30
	xsp trad.Reg = 31
	xpc trad.Reg = 32
)

var link = &arch.Arch{
	Name:    "link",
	Order:   binary.LittleEndian,
	PtrSize: 8,

	RegisterFile: arch.RegisterFile{
		Regs:        []arch.RegInfo{{Num: x29, Name: "x29", Bits: 64}, {Num: x30, Name: "x30", Bits: 64}, {Num: xsp, Name: "sp", Bits: 64}, {Num: xpc, Name: "pc", Bits: 64}},
		PC:          xpc,
		SP:          xsp,
		FP:          x29,
		RA:          x30,
		CalleeSaved: arch.Set(x29, xsp),
		AddressMask: 1<<48 - 1,
	},

	StackRules: arch.StackRules{
		StackAlign:          16,
		FrameRecord:         16,
		FrameRecordAnywhere: true,
	},
}

type linkFake struct{ *fake }

func (linkFake) Arch() *arch.Arch { return link }

func newLinkFake(pc, sp, fp, ra uint64, words ...uint64) linkFake {
	f := newFake(0, 0, 0, words...)
	f.regs = map[trad.Reg]uint64{xpc: pc, xsp: sp, x29: fp, x30: ra}
	return linkFake{f}
}

func linkStack(t *testing.T, f linkFake, sniffers ...frame.Sniffer) []*frame.Frame {
	t.Helper()
	s, err := frame.New(f, f.fake, frame.NewTable(link, sniffers...))
	if err != nil {
		t.Fatal(err)
	}
	var list []*frame.Frame
	for x, err := range s.All() {
		if err == nil {
			list = append(list, x)
		}
	}
	if err := walktest.New(f.mods, frame.NewTable(link, sniffers...)).Check(f, f.fake); err != nil {
		t.Error(err)
	}
	return list
}

// leaf is the row of a function at its first instruction.
var leaf = trad.Row{
	CFA: trad.Rule{Kind: trad.InReg, Reg: xsp},
	RA:  trad.Rule{Kind: trad.Same},
	FP:  trad.Rule{Kind: trad.Same},
}

// saver is the row of a function that has saved FP and the link register.
var saver = trad.Row{
	CFA: trad.Rule{Kind: trad.InReg, Reg: xsp, Off: 32},
	RA:  trad.Rule{Kind: trad.Saved, Off: -24},
	FP:  trad.Rule{Kind: trad.Saved, Off: -32},
}

// The return address may be in the link register in the innermost frame, and in a frame
// that a signal interrupted. A call overwrites it.
func TestLinkRegister(t *testing.T) {
	const signed = 0x2a << 48
	f := newLinkFake(0x1010, stackBase, 0, signed|0x1100, stackBase+64, signed|0x1200, 0, 0)
	first := &rows{name: "first", at: map[uint64]trad.Row{0x1010: leaf, 0x10ff: leaf, 0x11ff: leaf}}
	second := &rows{name: "second", at: map[uint64]trad.Row{0x10ff: saver}}
	list := linkStack(t, f, first, second)
	if len(list) != 3 || list[0].Sniffer() != "first" || list[1].PC() != 0x1100 || list[1].Sniffer() != "second" || list[2].PC() != 0x1200 {
		t.Fatalf("stack %v", list)
	}
	claim := list[1].Claim()
	if len(claim.Declined) != 1 || !strings.Contains(claim.Declined[0].Reason, "the call has overwritten") {
		t.Errorf("declined: %+v", claim.Declined)
	}
	// No sniffer has a better row for the last frame: the stack ends there, and says why.
	if _, err := list[2].Prev(); list[2].StopReason() != frame.Unavailable || err == nil || !strings.Contains(err.Error(), "first: the return address would be in the link register") {
		t.Errorf("%v: %v", list[2].StopReason(), err)
	}
	// The caller's link register is the word that the callee has saved, unchanged.
	if v := list[1].Register(x30); v.Bits != signed|0x1100 {
		t.Errorf("x30 is %v", v)
	}
}

// A function that a signal interrupted may still have its return address in the link register.
func TestLinkRegisterUnderSignal(t *testing.T) {
	signal := trad.Row{
		Flags: trad.Signal,
		CFA:   trad.Rule{Kind: trad.InReg, Reg: xsp},
		RA:    trad.Rule{Kind: trad.SavedAt, Reg: xsp},
		FP:    trad.Rule{Kind: trad.SavedAt, Reg: xsp, Off: 8},
		Others: &trad.OtherRules{Regs: []trad.RegRule{
			{Reg: x30, Rule: trad.Rule{Kind: trad.SavedAt, Reg: xsp, Off: 16}},
			{Reg: xsp, Rule: trad.Rule{Kind: trad.SavedAt, Reg: xsp, Off: 24}},
		}},
	}
	f := newLinkFake(0x1010, stackBase, 0, 0x1500, 0x1100, 0, 0x1200, stackBase+64)
	list := linkStack(t, f, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: leaf, 0x14ff: signal, 0x1100: leaf}})
	if len(list) != 4 || list[1].Type() != frame.SigTramp || list[2].PC() != 0x1100 || list[3].PC() != 0x1200 {
		t.Fatalf("stack %v", list)
	}
}

// A target with its own address mask has its own descriptor. The architecture's table serves it,
// too.
func TestAddressMask(t *testing.T) {
	f := newLinkFake(0x1010, stackBase, 0, 0x7f00_0000_1100)
	s, err := frame.New(masked{f}, f.fake, frame.NewTable(link, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: leaf}}))
	if err != nil {
		t.Fatal(err)
	}
	if x, err := s.Frame(1); err != nil || x.PC() != 0x1100 {
		t.Errorf("%v, %v", x, err)
	}
}

type masked struct{ linkFake }

func (masked) Arch() *arch.Arch { return link.WithAddressMask(1<<40 - 1) }
