package breakpad

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	format "github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/trad"
)

// env is a frame: registers, and words of memory.
type env struct {
	registers map[trad.Reg]uint64
	memory    map[uint64]uint64
}

func (e env) Register(r trad.Reg) (uint64, bool) { v, ok := e.registers[r]; return v, ok }
func (e env) Word(addr uint64) (uint64, error)   { return e.memory[addr], nil }
func value(kind trad.Kind, off int32) trad.Rule  { return trad.Rule{Kind: kind, Off: off} }
func inReg(reg trad.Reg, off int32) trad.Rule    { return trad.Rule{Kind: trad.InReg, Reg: reg, Off: off} }
func savedAt(reg trad.Reg, off int32) trad.Rule {
	return trad.Rule{Kind: trad.SavedAt, Reg: reg, Off: off}
}

// TestRows: rules have the meaning that the specification's section on STACK CFI gives them.
func TestRows(t *testing.T) {
	same := trad.Rule{Kind: trad.Same}
	for _, c := range []struct {
		text        string
		arch        *arch.Arch
		cfa, ra, fp trad.Rule
		other       trad.Reg
		rule        trad.Rule
	}{
		{".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^", amd64.Arch, inReg(amd64.RSP, 16), value(trad.Saved, -8), same, amd64.RBX, value(trad.Saved, -16)},
		{".cfa: $rbp 16 + $rbp: .cfa 16 - ^ .ra: .cfa 8 - ^", amd64.Arch, inReg(amd64.RBP, 16), value(trad.Saved, -8), value(trad.Saved, -16), amd64.RBX, same},
		{".cfa: $rsp .ra: $rsp ^ $rbx: .undef", amd64.Arch, inReg(amd64.RSP, 0), savedAt(amd64.RSP, 0), same, amd64.RBX, trad.Rule{Kind: trad.Undefined}},
		{".cfa: $rsp 8 + ^ .ra: .cfa 8 - ^ $rbx: $r12", amd64.Arch, savedAt(amd64.RSP, 8), value(trad.Saved, -8), same, amd64.RBX, inReg(amd64.R12, 0)},
		{".cfa: $rsp .ra: .cfa ^ $rbx: .cfa 8 +", amd64.Arch, inReg(amd64.RSP, 0), value(trad.Saved, 0), same, amd64.RBX, value(trad.Value, 8)},
		{".cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^ x19: .cfa -16 + ^", arm64.Arch, inReg(arm64.Arch.SP, 32), value(trad.Saved, -24), value(trad.Saved, -32), 19, value(trad.Saved, -16)},
		{".cfa: sp 0 + .ra: x30", arm64.Arch, inReg(arm64.Arch.SP, 0), same, same, 19, same},
		// dump_syms of DW_CFA_restore_state (libc's msort_with_tmp of arm64)
		{".cfa: sp 0 + .ra: .ra x19: x19 x29: x29", arm64.Arch, inReg(arm64.Arch.SP, 0), same, same, 19, same},
	} {
		rules, err := format.ParseRules(c.text)
		if err != nil {
			t.Fatal(err)
		}
		row, ok := rowOf(rules, c.arch)
		if !ok || row.CFA != c.cfa || row.RA != c.ra || row.FP != c.fp || row.Others.Rule(c.other) != c.rule {
			t.Errorf("%s: %v, %+v, %+v", c.text, ok, row, row.Others)
		}
	}
	for _, text := range []string{".cfa: $rsp", ".ra: .cfa ^", "$rbx: $r12", "", ".cfa: .undef .ra: .cfa ^"} {
		rules, err := format.ParseRules(text)
		if err != nil {
			t.Fatal(err)
		}
		if row, ok := rowOf(rules, amd64.Arch); ok {
			t.Errorf("%q: %+v", text, row)
		}
	}
}

// TestExpressions: what no plain rule can say is computed, with a trailing ^ as a place.
func TestExpressions(t *testing.T) {
	rules, err := format.ParseRules(".cfa: $rsp 15 + 16 @ .ra: .cfa $rbx - ^ $r12: .cfa 2 * $r13: $xyz 1 - 2 /")
	if err != nil {
		t.Fatal(err)
	}
	row, ok := rowOf(rules, amd64.Arch)
	if !ok || row.CFA.Kind != trad.ValExpr || row.RA.Kind != trad.Expr {
		t.Fatalf("%v, %+v", ok, row)
	}
	e := env{registers: map[trad.Reg]uint64{amd64.RSP: 0x1001, amd64.RBX: 8}}
	exprs := row.Others.Exprs
	if cfa, err := exprs[row.CFA.Off].Eval(e, 0, false); err != nil || cfa != 0x1010 {
		t.Errorf("CFA %#x, %v", cfa, err)
	}
	if at, err := exprs[row.RA.Off].Eval(e, 0x1010, true); err != nil || at != 0x1008 {
		t.Errorf("the return address is at %#x, %v", at, err)
	}
	if v, err := exprs[row.Others.Rule(amd64.R12).Off].Eval(e, 0x1010, true); err != nil || v != 0x2020 {
		t.Errorf("r12 is %#x, %v", v, err)
	}
	if v, err := exprs[row.Others.Rule(amd64.R13).Off].Eval(e, 0x1010, true); err == nil {
		t.Errorf("r13 is %#x, by a register that does not exist", v)
	}
}
