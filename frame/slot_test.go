package frame_test

import (
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// slotKeeper is an Unwinder that keeps its frame's PC in the slot, and counts what it keeps and
// what is released.
type slotKeeper struct {
	name     string
	at       map[uint64]uint64 // PREVIOUS's PC by PC; each frame has 16 bytes
	declines bool              // after it has filled the slot
	simple   trad.Flags        // of its rows
	filled   int
	held     map[*kept]bool
	bad      []string
}

type kept struct{ pc uint64 }

func newKeeper(name string, at map[uint64]uint64) *slotKeeper {
	return &slotKeeper{name: name, at: at, held: map[*kept]bool{}, simple: trad.Once}
}

func (k *slotKeeper) Name() string   { return k.name }
func (*slotKeeper) Type() frame.Type { return frame.Normal }
func (k *slotKeeper) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if _, ok := k.at[q.PC]; !ok {
		return trad.Row{}, "elsewhere"
	}
	if k.simple&trad.Once != 0 {
		if slot := q.This.Slot(); *slot != nil {
			k.bad = append(k.bad, fmt.Sprintf("%v: the slot has %v", q.This, *slot))
		}
		k.fill(q.This)
	}
	if k.declines {
		return trad.Row{}, "not after all"
	}
	q.This.Register(amd64.RBX) // needs inner frames
	row := spRow(16)
	row.Lo, row.Len, row.Flags = q.AddressInBlock, 1, k.simple
	return row, frame.Claimed
}

func (k *slotKeeper) fill(this *frame.Frame) *kept {
	x := &kept{this.PC()}
	k.filled++
	k.held[x] = true
	*this.Slot() = x
	return x
}

func (k *slotKeeper) find(this *frame.Frame, who string) *kept {
	x, _ := (*this.Slot()).(*kept)
	if x == nil && k.simple&trad.Once == 0 {
		return k.fill(this)
	}
	if x == nil || x.pc != this.PC() || !k.held[x] {
		k.bad = append(k.bad, fmt.Sprintf("%s of %v: the slot has %v", who, this, x))
	}
	return x
}

func (k *slotKeeper) ThisID(this *frame.Frame) (frame.ID, error) {
	k.find(this, "ThisID")
	cfa, _ := this.CFA()
	return frame.ID{Stack: cfa, Has: frame.HasStack}, nil
}

func (k *slotKeeper) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	k.find(this, "PrevRegister")
	if r == amd64.RIP {
		return frame.Value{Bits: k.at[this.PC()], Lval: frame.Computed}
	}
	return frame.Value{}
}

func (k *slotKeeper) Release(slot any) {
	x := slot.(*kept)
	if !k.held[x] {
		k.bad = append(k.bad, fmt.Sprintf("released twice: %#x", x.pc))
	}
	delete(k.held, x)
}

func (k *slotKeeper) check(t *testing.T, when string, held int) {
	t.Helper()
	if len(k.held) != held || len(k.bad) > 0 {
		t.Errorf("%s, %s: %d slots are held, want %d; %q", k.name, when, len(k.held), held, k.bad)
	}
	k.bad = nil
}

func TestSlots(t *testing.T) {
	const depth = 40
	for _, simple := range []trad.Flags{trad.Once, 0} {
		at := map[uint64]uint64{}
		for i := range uint64(depth) {
			at[0x1100+i] = 0x1101 + i
		}
		k, vain := newKeeper("keeper", at), newKeeper("vain", at)
		k.simple, vain.declines = simple, true
		end := &rows{name: "rows", at: map[uint64]trad.Row{0x1100 + depth - 1: outermost(spRow(16))}}
		f := newFake(0x1100, stackBase, 0, make([]uint64, 2*depth+4)...)
		table := frame.NewTable(amd64.Arch, vain, k, end)
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		walk := func() {
			t.Helper()
			n := 0
			for x, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				if n++; x.Sniffer() == "keeper" {
					x.ID()
				}
				x.Claim() // asks vain once more
			}
			if n != depth+1 {
				t.Fatalf("%d frames", n)
			}
		}
		walk()
		k.check(t, "walked", depth)
		if err := s.Reset(f, f); err != nil {
			t.Fatal(err)
		}
		k.check(t, "reset", 0)
		walk()
		k.check(t, "walked once more", depth)
		s.Close()
		k.check(t, "closed", 0)

		w := frame.NewWalker(f.mods, table)
		var pcs [2 * depth]uint64
		for range 3 {
			if n, stop := w.Walk(regs(f), f, pcs[:]); n != depth+1 || stop != frame.Outermost {
				t.Errorf("the Walker has %d frames, %v", n, stop)
			}
			// Register has made the frames inside of the outermost that was asked.
			if len(k.held) > depth {
				t.Errorf("the Walker holds %d slots", len(k.held))
			}
		}
		w.Reset()
		k.check(t, "Walker reset", 0)
		if vain.check(t, "in the end", 0); vain.filled == 0 && simple != 0 || k.filled < 2*depth {
			t.Errorf("%d and %d slots were filled", vain.filled, k.filled)
		}
	}
}

// Frames that a deep stack drops give their slots back, and so does a frame that repeats its NEXT.
func TestSlotsDropped(t *testing.T) {
	const depth = 10_000
	k := newKeeper("keeper", map[uint64]uint64{0x1100: 0x1101, 0x1101: 0x1100})
	f := newFake(0x1100, stackBase, 0, make([]uint64, 2*depth)...)
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, k))
	if err != nil {
		t.Fatal(err)
	}
	s.Limit = depth
	most := 0
	for range s.AllOnce() {
		most = max(most, len(k.held))
	}
	if k.filled != depth || most > depth/2 {
		t.Errorf("%d slots, %d at once", k.filled, most)
	}
	s.Close()
	k.check(t, "closed", 0)

	again := &repeater{newKeeper("again", map[uint64]uint64{0x1100: 0x1100})}
	if s, err = frame.New(f, f, frame.NewTable(amd64.Arch, again)); err != nil {
		t.Fatal(err)
	}
	last, err := s.Frame(3)
	if f0, _ := s.Frame(0); last != nil || err == nil || f0.StopReason() != frame.SameID {
		t.Errorf("%v, %v", last, err)
	}
	again.check(t, "repeated", 1)
}

// repeater leads to the same frame once more.
type repeater struct{ *slotKeeper }

func (r *repeater) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	row, answer := r.slotKeeper.Sniff(q)
	row.CFA = trad.Rule{Kind: trad.InReg, Reg: amd64.RSP}
	return row, answer
}

func (r *repeater) PrevRegister(this *frame.Frame, reg trad.Reg) frame.Value {
	if reg == amd64.RSP {
		return this.Register(reg)
	}
	return r.slotKeeper.PrevRegister(this, reg)
}
