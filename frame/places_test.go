package frame_test

import (
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// returns is a PlacedUnwinder for calls that return to a PC with an SP. PREVIOUS is where it says.
type returns struct {
	at         map[uint64]uint64 // SP by PC
	to         map[trad.Reg]uint64
	generation uint64
}

func (r *returns) add(pc, sp uint64) {
	r.at[pc] = sp
	r.generation++
}

func (*returns) Name() string               { return "returns" }
func (*returns) Type() frame.Type           { return frame.Dummy }
func (r *returns) HasPlace(pc uint64) bool  { return r.at[pc] != 0 }
func (r *returns) PlacesGeneration() uint64 { return r.generation }
func (*returns) ThisID(this *frame.Frame) (frame.ID, error) {
	cfa, _ := this.CFA()
	return frame.ID{Stack: cfa, Code: this.PC(), Has: frame.HasStack | frame.HasCode}, nil
}

func (r *returns) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if sp := q.This.Register(amd64.RSP); !sp.Known() || r.at[q.PC] != sp.Bits {
		return trad.Row{}, "no such call"
	}
	return trad.Row{Lo: q.PC, Len: 1, CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP}, Flags: trad.Once}, frame.Claimed
}

func (r *returns) PrevRegister(this *frame.Frame, reg trad.Reg) frame.Value {
	if bits, ok := r.to[reg]; ok {
		return frame.Value{Bits: bits, Lval: frame.Computed}
	}
	return frame.Value{}
}

// A PlacedUnwinder's frame counts although a row was kept for its PC, and for other frames at the
// PC the row counts. Nobody tells the table.
func TestPlacesAreNotShadowed(t *testing.T) {
	const sp = stackBase
	to := map[trad.Reg]uint64{amd64.RIP: 0x1300, amd64.RSP: sp + 64, amd64.RBP: 0}
	calls := &returns{at: map[uint64]uint64{}, to: to}
	at := map[uint64]trad.Row{
		0x1010: spRow(16), 0x11ff: spRow(16), 0x1200: spRow(16), 0x12ff: outermost(spRow(16)), 0x1300: outermost(spRow(16)),
	}
	// Frame 0 returns to 0x1200, which returns to 0x1300.
	f := newFake(0x1010, sp, 0, 0, 0x1200, 0, 0x1300, 0, 0, 0, 0, 0, 0)
	table := frame.NewTable(amd64.Arch, calls, &rows{name: "rows", at: at})
	s, err := frame.New(f, f, table)
	if err != nil {
		t.Fatal(err)
	}
	w := frame.NewWalker(f.mods, table)
	look := func(when string, want ...string) {
		t.Helper()
		for range 2 { // the second time by what was kept
			if err := s.Reset(f, f); err != nil {
				t.Fatal(err)
			}
			var got []string
			for x, err := range s.All() {
				if err != nil {
					t.Fatal(when, err)
				}
				got = append(got, fmt.Sprintf("%v %v %s", x, x.Type(), x.Sniffer()))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
			var pcs [8]uint64
			regs := regs(f)
			n, stop := w.Walk(regs, f, pcs[:])
			if n != len(want) || stop != frame.Outermost {
				t.Errorf("%s: the Walker has %#x, %v", when, pcs[:n], stop)
			}
			if err := walktest.New(f.mods, table.Clone()).Check(f, f); err != nil {
				t.Error(err)
			}
		}
	}
	normal := []string{"#0 0x1010 normal rows", "#1 0x1200 normal rows", "#2 0x1300 normal rows"}
	look("before", normal...)
	calls.add(0x1200, sp+16)
	look("during the call", "#0 0x1010 normal rows", "#1 0x1200 dummy returns", "#2 0x1300 normal rows")
	calls.add(0x1200, sp+24)
	look("another call", normal...)
	delete(calls.at, 0x1200)
	look("after", normal...)
	calls.add(0x1300, sp+32)
	calls.to[amd64.RIP] = 0x1200
	at[0x1200] = outermost(spRow(16))
	look("where the stack ended", "#0 0x1010 normal rows", "#1 0x1200 normal rows", "#2 0x1300 dummy returns", "#3 0x1200 normal rows")
}

// A PlacedUnwinder speaks for a PC that is in no code, and a guess that leads there is believed.
// Without a place there, the stack ends.
func TestPlacesInNoCode(t *testing.T) {
	const sp = stackBase
	const place = sp + 64 // on the stack
	for _, flags := range []trad.Flags{0, trad.Guess} {
		inner := spRow(16)
		inner.Flags = flags
		at := map[uint64]trad.Row{0x1010: inner, 0x1300: outermost(spRow(16))}
		f := newFake(0x1010, sp, 0, 0, place, 0, 0, 0, 0, 0, 0, 0xcc, 0)
		calls := &returns{at: map[uint64]uint64{}, to: map[trad.Reg]uint64{amd64.RIP: 0x1300, amd64.RSP: sp + 72, amd64.RBP: 0}}
		sniffers := []frame.Sniffer{calls, &rows{name: "rows", at: at}}
		pcs, last, err := unwind(t, f, sniffers...)
		if err == nil || last.StopReason() == frame.Outermost {
			t.Errorf("without a place: %#x, %v", pcs, last.StopReason())
		}
		calls.add(place, sp+24)
		if pcs, last, _ = unwind(t, f, sniffers...); last.StopReason().Whole() {
			t.Errorf("another SP: %#x, %v", pcs, last.StopReason())
		}
		calls.add(place, sp+16)
		if pcs, last, err = unwind(t, f, sniffers...); err != nil || fmt.Sprintf("%#x", pcs) != "[0x1010 0x7040 0x1300]" {
			t.Errorf("with a place: %#x, %v", pcs, err)
		}
		if dummy := last.Next(); dummy.Type() != frame.Dummy || dummy.Claim().Sniffer != "returns" {
			t.Errorf("type %v by %s", dummy.Type(), dummy.Sniffer())
		}
		// The thread may have come to the place.
		f.regs[amd64.RIP], f.regs[amd64.RSP] = place, sp+16
		if pcs, _, err = unwind(t, f, sniffers...); err != nil || fmt.Sprintf("%#x", pcs) != "[0x7040 0x1300]" {
			t.Errorf("at the place: %#x, %v", pcs, err)
		}
	}
}
