package frame_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// wideFake is a fake whose thread has xmm registers, of 16 bytes: it lacks the ymm's upper halves.
type wideFake struct{ *fake }

var _ target.WideThread = wideFake{}

func (wideFake) ReadRegister(r trad.Reg, offset int, b []byte) error {
	if r < amd64.XMM0 || r >= amd64.XMM0+16 || offset+len(b) > 16 {
		return errors.New("no such bytes")
	}
	for i := range b {
		b[i] = byte(int(r-amd64.XMM0)<<4 + offset + i)
	}
	return nil
}

// A function of the Microsoft ABI preserves xmm6, another's caller loses it. A signal loses
// nothing. What a row says is saved is 64 bits.
func TestWideRegister(t *testing.T) {
	const sp = stackBase
	const xmm6, xmm7, xmm8 = amd64.XMM0 + 6, amd64.XMM0 + 7, amd64.XMM0 + 8
	saves := spRow(32)
	saves.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
		{Reg: xmm6, Rule: trad.Rule{Kind: trad.Saved, Off: -32}}, {Reg: xmm8, Rule: trad.Rule{Kind: trad.Same}},
	}}
	interrupted := spRow(16)
	interrupted.Flags = trad.Signal
	interrupted.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: xmm6, Rule: trad.Rule{Kind: trad.Same}}}}
	f := newFake(0x1010, sp, sp, 0, 0x1100, 0x8877665544332211, 0, 0, 0x1200, 0, 0, 0)
	s, err := frame.New(f, wideFake{f}, frame.NewTable(amd64.Arch, &rows{name: "rows", at: map[uint64]trad.Row{
		0x1010: interrupted, 0x1100: saves, 0x11ff: outermost(spRow(16)),
	}}))
	if err != nil {
		t.Fatal(err)
	}
	live := []byte{0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f}
	saved := []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}
	for _, test := range []struct {
		level int
		r     trad.Reg
		want  []byte // nil for none
	}{
		{0, xmm6, live}, {1, xmm6, live}, {2, xmm6, saved}, {1, xmm7, nil}, {2, xmm7, nil},
		{0, amd64.ST0, nil}, {0, amd64.RBX, nil}, {2, amd64.RBX, nil}, {1, xmm8, nil}, {2, xmm8, nil},
	} {
		x, err := s.Frame(test.level)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := x.WideRegister(test.r); !bytes.Equal(b, test.want) || (err == nil) != (test.want != nil) {
			t.Errorf("frame %d, register %d: %x, %v, want %x", test.level, test.r, b, err, test.want)
		}
	}
	narrow, err := frame.New(f, f, frame.NewTable(amd64.Arch))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := narrow.Sentinel().WideRegister(xmm6); err == nil {
		t.Errorf("a thread without wide registers gives %x", b)
	}
}
