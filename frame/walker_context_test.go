package frame_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// reader is a sniffer that reads memory, and declines.
type reader struct{}

func (reader) Name() string { return "reader" }
func (reader) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	return trad.Row{}, frame.Answer(fmt.Sprintf("%d bytes can be read", len(q.Read(stackBase, 8))))
}

// A context outlives a change of modules.
func TestStepOverSetModules(t *testing.T) {
	f, sniffers, want := rbxStack()
	sniffers = append([]frame.Sniffer{reader{}}, sniffers...)
	var regs arch.Registers
	f.Registers(&regs)
	for at := range want {
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, sniffers...))
		c := frame.NewContext(amd64.Arch, &regs)
		for i, pc := range want {
			if i == at {
				w.SetModules(newFake(0, 0, 0).mods)
			}
			if c.PC != pc {
				t.Errorf("frame %d has PC %#x, want %#x", i, c.PC, pc)
			}
			w.Step(&c, f)
		}
	}
}

// Without PC or SP there is no stack.
func TestWalkerUnknown(t *testing.T) {
	for _, r := range []trad.Reg{amd64.RIP, amd64.RSP} {
		f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0)
		var regs arch.Registers
		f.Registers(&regs)
		regs.Known.Remove(r)
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, everywhere{fp}))
		if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 0 || stop != frame.Unavailable {
			t.Errorf("without %s: %d frames, %v", amd64.Arch.RegName(r), n, stop)
		}
		c := frame.NewContext(amd64.Arch, &regs)
		if stop := w.Step(&c, f); c.PC != 0 || stop != frame.Unavailable {
			t.Errorf("without %s: PC %#x, %v", amd64.Arch.RegName(r), c.PC, stop)
		}
	}
	var c frame.Context
	w := frame.NewWalker(newFake(0, 0, 0).mods, frame.NewTable(amd64.Arch))
	if stop := w.Step(&c, newFake(0, 0, 0)); stop != frame.Unavailable {
		t.Errorf("a context of nothing: %v", stop)
	}
}

// Contexts of several stacks, and copies of them, are stepped on one walker in turns.
func TestContextsInTurns(t *testing.T) {
	rbx, sniffers, want1 := rbxStack()
	const far, further = 200, 400
	rbx2, _, _ := rbxStackAt(further)
	signal, others, want2 := signalStack()
	s := sniffers[0].(*rows)
	// Both stacks' rows by one table: the second stack's code is 0x800 bytes further on.
	moved := *signal
	moved.regs = map[trad.Reg]uint64{amd64.RIP: signal.regs[amd64.RIP] + 0x800, amd64.RSP: signal.regs[amd64.RSP], amd64.RBP: signal.regs[amd64.RBP]}
	moved.words = slices.Clone(signal.words)
	for i, w := range moved.words {
		if w >= codeLo && w < codeHi {
			moved.words[i] += 0x800
		}
	}
	for at, row := range others[0].(*rows).at {
		s.at[at+0x800] = row
	}
	for i := range want2 {
		want2[i] += 0x800
	}
	type stack struct {
		sp   uint64 // of frame 4
		f    *fake
		c    frame.Context
		want []uint64
		regs arch.Registers
		at   int
	}
	stacks := []*stack{
		{f: rbx, want: want1, sp: stackBase + far + 16},
		{f: &moved, want: want2},
		{f: rbx2, want: want1, sp: stackBase + further + 16},
	}
	for _, x := range stacks {
		x.f.Registers(&x.regs)
		x.c = frame.NewContext(amd64.Arch, &x.regs)
	}
	w := frame.NewWalker(rbx.mods, frame.NewTable(amd64.Arch, s))
	for round := range 12 {
		for i, x := range stacks {
			if i == 2 && round%2 == 1 || x.at == len(x.want) {
				continue // so that the third falls behind the first, which has the same rows
			}
			if x.c.PC != x.want[x.at] {
				t.Errorf("stack %d, frame %d: PC %#x, want %#x", i, x.at, x.c.PC, x.want[x.at])
			}
			if x.at == 4 && x.sp != 0 && x.c.SP != x.sp {
				t.Errorf("stack %d, frame 4: SP %#x, want %#x", i, x.c.SP, x.sp)
			}
			// A copy goes to the end before the context goes on.
			ahead, n := x.c, x.at
			for w.Step(&ahead, x.f) == frame.NoReason {
				if n++; n < len(x.want) && ahead.PC != x.want[n] {
					t.Errorf("stack %d, copy of the context of frame %d: frame %d has PC %#x, want %#x", i, x.at, n, ahead.PC, x.want[n])
				}
			}
			if n != len(x.want)-1 {
				t.Errorf("stack %d: the copy of frame %d's context ends at frame %d", i, x.at, n)
			}
			w.Step(&x.c, x.f)
			x.at++
		}
	}
	// Another Walker can step a context.
	c := frame.NewContext(amd64.Arch, &stacks[0].regs)
	for i, pc := range want1 {
		if c.PC != pc {
			t.Errorf("frame %d by walkers in turns: PC %#x, want %#x", i, c.PC, pc)
		}
		w := frame.NewWalker(rbx.mods, frame.NewTable(amd64.Arch, s))
		other := frame.NewContext(amd64.Arch, &stacks[1].regs)
		w.Step(&other, &moved)
		w.Step(&c, rbx)
	}
}
