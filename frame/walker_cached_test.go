package frame_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Rows of a walk before serve a walk without other registers than PC and SP, as long as none needs
// a register that no inner frame has saved. No sniffer is asked.
func TestWalkCached(t *testing.T) {
	// bySP is the row of a function that has pushed RBP, and noFP of one that has not.
	noFP := spRow(16)
	bySP := noFP
	bySP.FP = trad.Rule{Kind: trad.Saved, Off: -16}
	byRBX := fp
	byRBX.CFA.Reg = amd64.RBX
	const main = 0x1200
	stack := []uint64{stackBase + 16, 0x1100, stackBase + 32, main, 0, 0}
	want := []uint64{0x1010, 0x1100, main}
	for _, tt := range []struct {
		name         string
		inner, outer trad.Row
		whole        bool
	}{
		{"an inner frame has saved FP", bySP, fp, true},
		{"no frame needs FP", bySP, bySP, true},
		{"no frame has saved FP", noFP, fp, false},
		{"frame 0 needs FP", fp, bySP, false},
		{"a frame needs another register", byRBX, bySP, false},
	} {
		s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: tt.inner, 0x10ff: tt.outer, main - 1: outermost(bySP)}}
		f := newFake(0x1010, stackBase, stackBase, stack...)
		if f.regs[amd64.RBX] = stackBase; tt.inner.FP.Kind == trad.Same {
			f.regs[amd64.RBP] = stackBase + 16
		}
		mem := lentMemory{f, f.bytes()}
		var regs, few arch.Registers
		f.Registers(&regs)
		few.Set(amd64.RIP, 0x1010)
		few.Set(amd64.RSP, stackBase)
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s))
		pcs, cfas := make([]uint64, 9), make([]uint64, 9)
		if n, whole := w.WalkCached(&few, mem, pcs, cfas); n != 0 || whole || s.asked > 0 {
			t.Errorf("%s: without a walk before: %x, %v", tt.name, pcs[:n], whole)
		}
		for range 2 {
			if n, stop := w.Walk(&regs, mem, pcs); stop != frame.Outermost || !slices.Equal(pcs[:n], want) {
				t.Fatalf("%s: %x, %v", tt.name, pcs[:n], stop)
			}
		}
		s.asked = 0
		n, whole := w.WalkCached(&few, mem, pcs, cfas)
		if whole != tt.whole || whole && (!slices.Equal(pcs[:n], want) || cfas[0] != stackBase+16 || !slices.Equal(w.Interrupted(), []int{0})) || s.asked > 0 {
			t.Errorf("%s: %x, CFAs %x, %v, interrupted %v, asked %d times", tt.name, pcs[:n], cfas[:n], whole, w.Interrupted(), s.asked)
		}
		if n, whole := w.WalkCached(&few, mem, pcs[:2], nil); n > 2 || whole {
			t.Errorf("%s: with room for two frames: %d, %v", tt.name, n, whole)
		}
	}
}

// A stack knows that somebody has asked for a register that is not known.
func TestLacks(t *testing.T) {
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, stackBase+32, 0x1100, 0, 0)
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, everywhere{fp}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		ask   func(x *frame.Frame)
		lacks bool
	}{
		{"nothing", func(*frame.Frame) {}, false},
		{"SP", func(x *frame.Frame) { x.Register(amd64.RSP) }, false},
		{"a register that is not", func(x *frame.Frame) { x.Register(amd64.R12) }, true},
		{"the same of the caller", func(x *frame.Frame) { x.PrevRegister(amd64.R12) }, true},
		{"a register that is known in frame 0", func(x *frame.Frame) { x.Stack().Sentinel().PrevRegister(amd64.RBX) }, false},
		{"all registers", func(x *frame.Frame) { x.Registers(new(arch.Registers)) }, true},
	} {
		for level := range 2 {
			if err := s.Reset(f, f); err != nil {
				t.Fatal(err)
			}
			x, err := s.Frame(level)
			if err != nil {
				t.Fatal(err)
			}
			if tt.ask(x); s.Lacks() != tt.lacks {
				t.Errorf("%s, frame %d: %v", tt.name, level, s.Lacks())
			}
		}
	}
	delete(f.regs, amd64.RBP)
	if err := s.Reset(f, f); err != nil {
		t.Fatal(err)
	}
	if s.Frame(1); !s.Lacks() {
		t.Error("a row needs RBP, which is not known")
	}
}
