package cfi_test

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/trad"
)

// exchangedFrame is a table of push %ebp; mov %esp,%ebp; push; leave; ret and a realigned frame, as
// GCC writes it, with esp and ebp by the numbers sp and fp: GCC's two maps of registers are 5, 4
// for default (Darwin) and 4, 5 for System V.
func exchangedFrame(sp, fp int) []byte {
	cie := join(1, "zR", 0, 1, 0x7c, 8, 1, 0, // addresses are absolute
		0x0c, sp, 4, 0x88, 1) // def_cfa sp+4; offset eip, -4
	fde := join(u32(0x1000), u32(0x100), 0,
		0x41, 0x0e, 8, 0x80|fp, 2, // advance 1; def_cfa_offset 8; offset fp, -8
		0x42, 0x0d, fp, // advance 2; def_cfa_register fp
		0x41, 0x83, 3, 0x0a, // advance 1; offset ebx, -12; remember_state
		0x48, 0xc0|fp, 0x0c, sp, 4, // advance 8; restore fp; def_cfa sp+4
		0x41, 0x0b, // advance 1; restore_state
		0x44, 0x0f, 3, 0x70|fp, 0x7c, 0x06, // advance 4; def_cfa_expression breg fp, -4; deref
		0x44, 0x09, 6, sp, 0x08, fp) // advance 4; register esi, sp; same_value fp
	return ehFrame(cie, fde)
}

type environment struct{ sp, fp uint64 }

func (e environment) Register(r trad.Reg) (uint64, bool) {
	v, ok := map[trad.Reg]uint64{4: e.sp, 5: e.fp}[r]
	return v, ok
}
func (e environment) Word(addr uint64) (uint64, error) { return addr * 3, nil }

// A table with esp and ebp the other way round has the rows of one that follows System V. Where
// nobody says that it may be so, it is read as it is.
func TestExchanged(t *testing.T) {
	opts := cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 4, FP: 5, Link: 8, Exchanged: [2]trad.Reg{4, 5}}}
	open := func(data []byte, opts cfi.Options) *cfi.Section {
		s, err := cfi.Open(cfi.EH, data, ehAddr, opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	usual, other := open(exchangedFrame(4, 5), opts), open(exchangedFrame(5, 4), opts)
	plain := opts
	plain.Exchanged = [2]trad.Reg{}
	asIs := open(exchangedFrame(5, 4), plain)
	different := 0
	for pc := uint64(0x1000); pc < 0x1020; pc++ {
		for range 2 { // the second time, the CIE is prepared
			want, _, err := usual.Row(pc)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := other.Row(pc)
			if err != nil {
				t.Fatal(err)
			}
			wantCFA, gotCFA := cfaOf(t, &want), cfaOf(t, &got)
			wantRegs, gotRegs := want.Others.Regs, got.Others.Regs
			if wantCFA != gotCFA || want.RA != got.RA || want.FP != got.FP || !reflect.DeepEqual(wantRegs, gotRegs) {
				t.Errorf("%#x: CFA %#x, FP %v, others %v; want %#x, %v, %v", pc, gotCFA, got.FP, gotRegs, wantCFA, want.FP, wantRegs)
			}
			if row, _, err := asIs.Row(pc); err != nil || cfaOf(t, &row) != wantCFA {
				different++
			}
		}
	}
	if different < 30 {
		t.Errorf("only %d rows differ where the table is read as it is", different)
	}
}

func cfaOf(t *testing.T, row *trad.Row) uint64 {
	t.Helper()
	env := environment{0x7000, 0x9000}
	if row.CFA.Kind == trad.ValExpr {
		v, err := row.Others.Exprs[row.CFA.Off].Eval(env, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, _ := env.Register(row.CFA.Reg)
	return v + uint64(int64(row.CFA.Off))
}
