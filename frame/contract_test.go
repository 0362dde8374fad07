package frame_test

import (
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Without sniffers there is a frame 0, which cannot be unwound.
func TestEmptyTable(t *testing.T) {
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0)
	pcs, last, err := unwind(t, f)
	if len(pcs) != 1 || last.StopReason() != frame.Unavailable || err == nil {
		t.Errorf("PCs %#x, %v, %v", pcs, last.StopReason(), err)
	}
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch))
	if err != nil {
		t.Fatal(err)
	}
	f0, _ := s.Frame(0)
	for _, x := range []*frame.Frame{s.Sentinel(), f0} {
		_, known := x.CFA()
		if row := x.Row(); !x.ID().Null() || known || x.Sniffer() != "" || row != (trad.Row{}) {
			t.Errorf("frame %d: ID %v, CFA known %t, by %q", x.Level, x.ID(), known, x.Sniffer())
		}
		if c := x.Claim(); c.Sniffer != "" || len(c.Declined) != 0 {
			t.Errorf("frame %d: claim %+v", x.Level, c)
		}
		var regs arch.Registers
		if x.Registers(&regs); regs.Value[amd64.RBX] != 0xb || x.Register(amd64.RSP).Bits != stackBase {
			t.Errorf("frame %d: registers %+v", x.Level, regs)
		}
		b := s.Sentinel().Stack()
		if b != s || x.Module() != nil || x.MovedOn() || x.AddressInBlock() != x.PC() {
			t.Errorf("frame %d: %+v", x.Level, x)
		}
	}
}

// The sentinel is at level -1, and no sniffer claims it.
func TestSentinel(t *testing.T) {
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0)
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, everywhere{fp}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // before and after it has a PREVIOUS
		x, err := s.Frame(-1)
		if x != s.Sentinel() || err != nil || x.Type() != frame.Sentinel || x.Level != -1 {
			t.Errorf("frame -1 is %v, %v", x, err)
		}
		if !x.ID().Null() || x.ID().Equal(x.ID()) || x.Sniffer() != "" || x.StopReason() != frame.NoReason {
			t.Errorf("the sentinel: ID %v, by %q, %v", x.ID(), x.Sniffer(), x.StopReason())
		}
	}
	if x, err := s.Frame(-2); x != nil || err == nil {
		t.Errorf("frame -2 is %v, %v", x, err)
	}
}

// called is a sniffer of dummy frames: the callers of functions that a debugger calls.
type called struct{ everywhere }

func (called) Type() frame.Type { return frame.Dummy }
func (called) ThisID(this *frame.Frame) (frame.ID, error) {
	cfa, _ := this.CFA()
	return frame.ID{Stack: cfa, Has: frame.HasStack}, nil
}
func (called) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	switch r {
	case amd64.RIP:
		return frame.Value{Bits: 0x1200, Lval: frame.Computed}
	case amd64.RSP:
		return frame.Value{Bits: stackBase + 16, Lval: frame.Computed}
	}
	return frame.Value{}
}
func (s called) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.PC != 0x1100 {
		return trad.Row{}, "no call of a debugger's"
	}
	return s.everywhere.Sniff(q)
}

// A dummy frame has interrupted its PREVIOUS. PREVIOUS is looked up at its PC, not PC-1: it
// may have been at a function's first instruction.
func TestDummy(t *testing.T) {
	plain := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 8}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Same}}
	last := plain
	last.Flags = trad.Outermost
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: plain, 0x1200: plain, 0x12ff: last}}
	pcs, frame3, err := unwind(t, newFake(0x1010, stackBase, 0, 0x1100, 0, 0x1300, 0), called{everywhere{plain}}, s)
	if err != nil || fmt.Sprintf("%#x", pcs) != "[0x1010 0x1100 0x1200 0x1300]" {
		t.Fatalf("%#x, %v", pcs, err)
	}
	if got := frame3.Next(); got.AddressInBlock() != 0x1200 || got.Next().Type() != frame.Dummy {
		t.Errorf("frame 2 is looked up at %#x, behind a frame of type %v", got.AddressInBlock(), got.Next().Type())
	}
}

// unread is a target whose descriptor has no functions that read code.
type unread struct{ *fake }

func (unread) Arch() *arch.Arch {
	a := *amd64.Arch
	a.AfterCall, a.Exits = nil, nil
	return &a
}

// Without functions that read code, some stacks end earlier.
func TestArchReadsNoCode(t *testing.T) {
	f := newFake(0x1010, 0x7050, 0x7010,
		0, 0, 0x7080, 0x1201, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0x1101, 0, 0, // as in TestStackIsChanged
	)
	list := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: spRow(32), 0x1100: fp}}
	s, err := frame.New(unread{f}, f, frame.NewTable(unread{}.Arch(), list))
	if err != nil {
		t.Fatal(err)
	}
	f1, _ := s.Frame(1)
	if f1 == nil || f1.StopReason() != frame.InnerID {
		t.Errorf("frame 1 is %v", f1)
	}
}
