package trad_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/sfwalk/sfwalk/trad"
)

// env is THIS frame: registers by number, words of memory by address.
type env struct {
	regs  map[trad.Reg]uint64
	words map[uint64]uint64
}

var errUnmapped = errors.New("unmapped")

func (e env) Register(r trad.Reg) (uint64, bool) { v, ok := e.regs[r]; return v, ok }

func (e env) Word(addr uint64) (uint64, error) {
	if v, ok := e.words[addr]; ok {
		return v, nil
	}
	return 0, errUnmapped
}

// plus is the expression CFA+n, or register 1 + n where there is no CFA.
type plus int64

func (p plus) String() string { return fmt.Sprintf("plus %d", int64(p)) }
func (p plus) Eval(e trad.Env, cfa uint64, hasCFA bool) (uint64, error) {
	if !hasCFA {
		cfa, _ = e.Register(1)
	}
	return cfa + uint64(p), nil
}

// What each rule means is DWARF 5, section 6.4.1.
func TestPlaces(t *testing.T) {
	e := env{regs: map[trad.Reg]uint64{1: 0x1000, 2: 0x2000}, words: map[uint64]uint64{0x1ff8: 0x9000}}
	row := trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: 1, Off: 16},
		Others: &trad.OtherRules{Exprs: []trad.Expression{plus(8), plus(-8)}},
	}
	cfa, err := row.Apply(e)
	if err != nil || cfa != 0x1010 {
		t.Fatalf("CFA %#x, %v", cfa, err)
	}
	for _, tt := range []struct {
		rule trad.Rule
		want trad.Place
		err  error
	}{
		{trad.Rule{}, trad.Place{Kind: trad.Unknown}, nil},
		{trad.Rule{Kind: trad.Same}, trad.Place{Kind: trad.InThis, Reg: 7}, nil},
		{trad.Rule{Kind: trad.Undefined}, trad.Place{Kind: trad.Lost}, nil},
		{trad.Rule{Kind: trad.Saved, Off: -8}, trad.Place{Kind: trad.InMemory, Addr: 0x1008}, nil},
		{trad.Rule{Kind: trad.Value, Off: -16}, trad.Place{Kind: trad.IsValue, Addr: 0x1000}, nil},
		{trad.Rule{Kind: trad.SavedAt, Reg: 2, Off: -8}, trad.Place{Kind: trad.InMemory, Addr: 0x1ff8}, nil},
		{trad.Rule{Kind: trad.InReg, Reg: 2, Off: 4}, trad.Place{Kind: trad.IsValue, Addr: 0x2004}, nil},
		{trad.Rule{Kind: trad.InReg, Reg: 2}, trad.Place{Kind: trad.InThis, Reg: 2}, nil},
		{trad.Rule{Kind: trad.Expr, Off: 0}, trad.Place{Kind: trad.InMemory, Addr: 0x1018}, nil},
		{trad.Rule{Kind: trad.ValExpr, Off: 1}, trad.Place{Kind: trad.IsValue, Addr: 0x1008}, nil},
		{trad.Rule{Kind: trad.Expr, Off: 2}, trad.Place{}, trad.ErrNoRule},
		{trad.Rule{Kind: trad.SavedAt, Reg: 3}, trad.Place{}, trad.ErrUnavailable},
		{trad.Rule{Kind: 99}, trad.Place{}, trad.ErrNoRule},
	} {
		got, err := row.Place(tt.rule, 7, e, cfa)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%+v: %+v, %v; want %+v, %v", tt.rule, got, err, tt.want, tt.err)
		}
	}
}

func TestApply(t *testing.T) {
	e := env{regs: map[trad.Reg]uint64{1: 0x1000}, words: map[uint64]uint64{0xff8: 0x5000}}
	for _, tt := range []struct {
		cfa  trad.Rule
		want uint64
		err  error
	}{
		{trad.Rule{Kind: trad.InReg, Reg: 1}, 0x1000, nil},
		{trad.Rule{Kind: trad.InReg, Reg: 1, Off: -8}, 0xff8, nil},
		{trad.Rule{Kind: trad.SavedAt, Reg: 1, Off: -8}, 0x5000, nil}, // realigned stack: the CFA itself is saved
		{trad.Rule{Kind: trad.ValExpr}, 0x1008, nil},
		{trad.Rule{Kind: trad.SavedAt, Reg: 1}, 0, errUnmapped},
		{trad.Rule{Kind: trad.InReg, Reg: 2}, 0, trad.ErrUnavailable},
		{trad.Rule{Kind: trad.Saved}, 0, trad.ErrNoRule}, // relative to itself
		{trad.Rule{}, 0, trad.ErrNoRule},
		{trad.Rule{Kind: trad.Same}, 0, trad.ErrNoRule},
	} {
		row := trad.Row{CFA: tt.cfa, Others: &trad.OtherRules{Exprs: []trad.Expression{plus(8)}}}
		cfa, err := row.Apply(e)
		if cfa != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%+v: CFA %#x, %v; want %#x, %v", tt.cfa, cfa, err, tt.want, tt.err)
		}
	}
}

func TestRest(t *testing.T) {
	x := &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: 3, Rule: trad.Rule{Kind: trad.Saved, Off: -24}}, {Reg: 12, Rule: trad.Rule{Kind: trad.Undefined}}}}
	if got := x.Rule(3); got.Off != -24 || !x.Lists(3) {
		t.Errorf("rule of 3 is %+v", got)
	}
	if got := x.Rule(12); got.Kind != trad.Undefined {
		t.Errorf("rule of 12 is %+v", got)
	}
	if got := x.Rule(5); got.Kind != trad.Same || x.Lists(5) {
		t.Errorf("rule of 5 is %+v", got)
	}
	var none *trad.OtherRules
	if got := none.Rule(3); got.Kind != trad.NotTracked || none.Lists(3) {
		t.Errorf("rule of a row without others is %+v", got)
	}
}

func TestFormat(t *testing.T) {
	name := func(r trad.Reg) string { return map[trad.Reg]string{3: "rbx", 6: "rbp", 7: "rsp"}[r] }
	for _, tt := range []struct {
		row  trad.Row
		want string
	}{
		{trad.Row{
			CFA: trad.Rule{Kind: trad.InReg, Reg: 7, Off: 40}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Saved, Off: -16},
		}, "CFA=rsp+40 RA=[CFA-8] FP=[CFA-16]"},
		{trad.Row{
			CFA: trad.Rule{Kind: trad.SavedAt, Reg: 6, Off: -8}, RA: trad.Rule{Kind: trad.Undefined}, FP: trad.Rule{Kind: trad.Same},
			Flags: trad.Outermost | trad.Guess,
		}, "CFA=[rbp-8] RA=undefined FP=same outermost guess"},
		{trad.Row{
			CFA:    trad.Rule{Kind: trad.ValExpr},
			Others: &trad.OtherRules{Regs: []trad.RegRule{{Reg: 3, Rule: trad.Rule{Kind: trad.Expr}}}, Exprs: []trad.Expression{plus(1)}},
			Flags:  trad.Signal,
		}, "CFA=plus 1 rbx=[plus 1] signal"},
	} {
		if got := tt.row.Format(name); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(trad.Rule{}); n != 8 {
		t.Errorf("a rule has %d bytes, want 8", n)
	}
	// With 16 bytes of key a row fills one cache line on 64-bit hosts.
	if n := unsafe.Sizeof(trad.Row{}); n > 48 {
		t.Errorf("a row has %d bytes, want at most 48", n)
	}
}

func TestContains(t *testing.T) {
	row := trad.Row{Lo: 0x1000, Len: 16}
	for pc, want := range map[uint64]bool{0xfff: false, 0x1000: true, 0x100f: true, 0x1010: false, 0: false} {
		if row.Contains(pc) != want {
			t.Errorf("contains %#x: %v", pc, !want)
		}
	}
}
