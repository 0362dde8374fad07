package frame_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// whole is an Unwinder.
type whole struct{ everywhere }

func (whole) Type() frame.Type { return frame.OtherStack }
func (whole) ThisID(this *frame.Frame) (frame.ID, error) {
	if this.Level == 2 {
		return frame.ID{}, nil
	}
	return frame.ID{Stack: uint64(this.Level), Special: 7, Has: frame.HasStack | frame.HasSpecial}, nil
}
func (whole) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	if r == amd64.RIP {
		return frame.Value{Bits: 0x1100 + uint64(this.Level), Lval: frame.Computed}
	}
	return frame.Value{Bits: uint64(r) + 8*uint64(this.Level), Lval: frame.Computed}
}

func TestUnwinder(t *testing.T) {
	row := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 8}}
	pcs, last, err := unwind(t, newFake(0x1010, stackBase, 0, 0), whole{everywhere{row}})
	if fmt.Sprintf("%#x", pcs) != "[0x1010 0x1100 0x1101]" || last.StopReason() != frame.NullID || err == nil {
		t.Errorf("PCs %#x, %v, %v", pcs, last.StopReason(), err)
	}
	if id := last.Next().ID(); id.String() != "{stack=0x1,!code,special=0x7}" {
		t.Errorf("ID %v", id)
	}
	if v := last.Register(amd64.RBX); v.Bits != 3+8 || last.Type() != frame.OtherStack {
		t.Errorf("rbx %v, type %v", v, last.Type())
	}
}

// somewhere is an Unwinder for one PC.
type somewhere struct {
	whole
	block uint64
}

func (s somewhere) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.AddressInBlock != s.block {
		return trad.Row{}, "elsewhere"
	}
	return s.whole.Sniff(q)
}

func (somewhere) ThisID(this *frame.Frame) (frame.ID, error) {
	cfa, _ := this.CFA()
	return frame.ID{Stack: cfa, Special: 7, Has: frame.HasStack | frame.HasSpecial}, nil
}

func (somewhere) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	if this.Next().Level != this.Level-1 {
		return frame.Value{} // NEXT is not the next inner frame
	}
	v := this.Register(r) // needs all registers of THIS
	switch r {
	case amd64.RIP:
		v = this.Register(amd64.RBX)
	case amd64.RSP:
		v.Bits += 16
	case amd64.RBP:
		v = frame.Value{Bits: v.Bits + 16, Lval: frame.Computed}
	case amd64.R12:
		v.Bits++
	}
	return v
}

func TestWalkerUnwinder(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+48, 0x1400, sp+64, 0x1300, 0, 0, 0, 0)
	f.regs[amd64.RBX] = 0x1200
	same := fp
	same.Others = &trad.OtherRules{Default: trad.Same}
	sniffers := []frame.Sniffer{
		somewhere{whole{everywhere{spRow(16)}}, 0x10ff},
		&rows{name: "rows", at: map[uint64]trad.Row{0x1010: same, 0x11ff: same, 0x12ff: same}},
	}
	check(t, f, sniffers, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.NoSavedPC)
	check(t, lent{f}, sniffers, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.NoSavedPC)
	pcs, _, _ := unwind(t, newFake(0x1010, stackBase, 0, 0), whole{everywhere{spRow(8)}})
	if len(pcs) != 3 {
		t.Errorf("PCs %#x", pcs)
	}
}

// byRegisters is like somewhere, but asks for all registers at once, and no other frames.
type byRegisters struct{ somewhere }

func (byRegisters) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	var all arch.Registers
	if this.Registers(&all); r == amd64.RIP {
		r = amd64.RBX
	}
	v, ok := all.Get(r)
	if !ok {
		return frame.Value{}
	}
	return frame.Value{Bits: v, Lval: frame.Computed}
}

// A row that leads to no code gives way to a later sniffer's row, which needs all inner frames to
// see where it leads.
func TestWalkerLooksBack(t *testing.T) {
	const sp = stackBase
	leaves := spRow(16)
	leaves.Others = &trad.OtherRules{Default: trad.Same}
	at := fixed{0x1010: leaves, 0x10ff: leaves, 0x11ff: outermost(fp)}
	for _, later := range []frame.Sniffer{
		somewhere{whole{everywhere{spRow(16)}}, 0x10ff},
		byRegisters{somewhere{whole{everywhere{spRow(16)}}, 0x10ff}},
	} {
		f := newFake(0x1010, sp, sp+64, 0, 0x1100, 0, 0x99999999, 0, 0)
		f.regs[amd64.RBX] = 0x1200
		check(t, f, []frame.Sniffer{at, later}, []uint64{0x1010, 0x1100, 0x1200}, frame.Outermost)
	}
}

// partly is an Unwinder that knows PREVIOUS's PC and SP alone, and says of two registers that they
// cannot be had.
type partly struct{ somewhere }

var errPartly = errors.New("not to be had")

func (partly) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	switch r {
	case amd64.RIP:
		return frame.Value{Bits: 0x1200, Lval: frame.Computed}
	case amd64.RSP:
		cfa, _ := this.CFA()
		return frame.Value{Bits: cfa, Lval: frame.Computed}
	case amd64.R13:
		return frame.Value{Err: errPartly}
	case amd64.R14:
		return frame.Value{Lval: frame.NotSaved}
	}
	return frame.Value{}
}

// A register that an Unwinder leaves open is completed by its row, then by a later sniffer's; one
// that it calls lost or not to be had is not.
func TestUnwinderLeavesRegisters(t *testing.T) {
	const sp = stackBase
	own := spRow(32)
	own.FP = trad.Rule{}
	own.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -32}}}}
	saved := func(off int32) trad.Rule { return trad.Rule{Kind: trad.Saved, Off: off} }
	whole := func(cfa int32) trad.Row {
		row := spRow(cfa)
		row.FP = saved(-8)
		row.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
			{Reg: amd64.RBX, Rule: saved(-8)}, {Reg: amd64.R12, Rule: saved(-24)}, {Reg: amd64.R13, Rule: saved(-24)}, {Reg: amd64.R14, Rule: saved(-24)},
		}}
		return row
	}
	f := newFake(0x1010, sp, sp, 0xb1, 0xb2, 0x66, 0, 0x77)
	f.regs[amd64.R12], f.regs[amd64.R13], f.regs[amd64.R14], f.regs[amd64.R15] = 12, 13, 14, 15
	for _, test := range []struct {
		later int32 // the later row's CFA, from SP
		want  map[trad.Reg]string
	}{
		{32, map[trad.Reg]string{amd64.RBX: "0xb1", amd64.RBP: "0x0", amd64.R12: "0xb2", amd64.R13: "<unavailable>", amd64.R14: "<not saved>", amd64.R15: "0xf", amd64.RAX: "<not saved>"}},
		// It describes another frame.
		{40, map[trad.Reg]string{amd64.RBX: "0xb1", amd64.RBP: "<unavailable>", amd64.R12: "<unavailable>", amd64.R13: "<unavailable>", amd64.R15: "<unavailable>"}},
	} {
		at := map[uint64]trad.Row{0x1010: whole(test.later), 0x11ff: outermost(spRow(16))}
		_, last, err := unwind(t, f, partly{somewhere{wholeOf(own), 0x1010}}, &rows{name: "rows", at: at})
		if err != nil || last.Level != 1 || last.PC() != 0x1200 {
			t.Fatalf("last frame %v, %v", last, err)
		}
		var all arch.Registers
		last.Registers(&all)
		for r, want := range test.want {
			v := last.Register(r)
			if v.String() != want {
				t.Errorf("later CFA %d: register %d is %v, want %s", test.later, r, v, want)
			}
			if bits, ok := all.Get(r); ok != v.Known() || ok && bits != v.Bits {
				t.Errorf("later CFA %d: register %d of all is %#x, %v, want %v", test.later, r, bits, ok, v)
			}
		}
		if v := last.Register(amd64.R13); v.Err != errPartly {
			t.Errorf("the reason is %v", v.Err)
		}
	}
}

func wholeOf(row trad.Row) whole { return whole{everywhere{row}} }
