package cfi_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/trad"
)

// join makes bytes of bytes and ints (one byte each) and strings.
func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func u16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// block puts the 32-bit length before an entry.
func block(parts ...any) []byte {
	b := join(parts...)
	return join(u32(uint32(len(b))), b)
}

// handMade is a .debug_frame with a CIE of version 4 (DWARF 5, section 6.4.1)
// and an FDE for 0x1000..0x1100. Code alignment is 1, data alignment -8, the
// return address column 16.
func handMade(initial, program []byte) []byte {
	return join(
		block(u32(0xffffffff), 4, 0, 8, 0, 1, 0x78, 16, initial),
		block(u32(0), u64(0x1000), u64(0x100), program))
}

var amd64 = cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 6}}

func format(r trad.Row) string {
	return r.Format(func(r trad.Reg) string { return fmt.Sprint("r", r) })
}

// Each instruction has the effect that DWARF 5, section 6.4.2, gives.
func TestInstructions(t *testing.T) {
	call := join(0x0c, 7, 8, 0x90, 1) // def_cfa r7+8; offset r16 at CFA + 1*-8
	for _, test := range []struct {
		name             string
		initial, program []byte
		pc, lo, end      uint64
		want             string
	}{
		{"nothing but the CIE", call, nil, 0x10ff, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"return address not mentioned", join(0x0c, 7, 8), nil, 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=same FP=same"},
		{"undefined return address", call, join(0x07, 16), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=undefined FP=same outermost"},
		{"undefined without CFA", nil, join(0x07, 16), 0x1000, 0x1000, 0x1100, "CFA=? RA=undefined FP=same outermost"},

		// 6.4.2.1: the new location is delta * code_alignment_factor on.
		{"advance_loc", call, join(0x44, 0x0e, 16), 0x1003, 0x1000, 0x1004, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"after advance_loc", call, join(0x44, 0x0e, 16), 0x1004, 0x1004, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"advance_loc1", call, join(0x02, 0x80, 0x0e, 16), 0x1080, 0x1080, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"advance_loc2", call, join(0x03, u16(0x81), 0x0e, 16), 0x1081, 0x1081, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"advance_loc4", call, join(0x04, u32(0x82), 0x0e, 16), 0x10ff, 0x1082, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"MIPS_advance_loc8", call, join(0x1d, u64(0x83), 0x0e, 16), 0x10ff, 0x1083, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"set_loc", call, join(0x01, u64(0x1010), 0x0e, 16), 0x1011, 0x1010, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},
		{"two advances", call, join(0x44, 0x44, 0x0e, 16), 0x1006, 0x1004, 0x1008, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"advance by nothing", call, join(0x44, 0x0e, 16, 0x40, 0x0e, 24), 0x1004, 0x1004, 0x1100, "CFA=r7+24 RA=[CFA-8] FP=same"},
		{"advance past the end", call, join(0x44, 0x0e, 16, 0x03, u16(0x1000), 0x0e, 24), 0x10ff, 0x1004, 0x1100, "CFA=r7+16 RA=[CFA-8] FP=same"},

		// 6.4.2.2: only the _sf forms factor the offset.
		{"def_cfa", call, join(0x0c, 6, 16), 0x1000, 0x1000, 0x1100, "CFA=r6+16 RA=[CFA-8] FP=same"},
		{"def_cfa_sf", call, join(0x12, 6, 0x7e), 0x1000, 0x1000, 0x1100, "CFA=r6+16 RA=[CFA-8] FP=same"},
		{"def_cfa_register", call, join(0x0d, 6), 0x1000, 0x1000, 0x1100, "CFA=r6+8 RA=[CFA-8] FP=same"},
		{"def_cfa_offset_sf", call, join(0x13, 0x7d), 0x1000, 0x1000, 0x1100, "CFA=r7+24 RA=[CFA-8] FP=same"},
		{"def_cfa_expression", call, join(0x0f, 2, 0x77, 0x10), 0x1000, 0x1000, 0x1100, "CFA=breg7+16 RA=[CFA-8] FP=same"},
		{"def_cfa after an expression", call, join(0x0f, 2, 0x77, 0x10, 0x0c, 7, 8), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},

		// 6.4.2.3
		{"offset of FP", call, join(0x86, 2), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=[CFA-16]"},
		{"others in ascending order", call, join(0x8f, 2, 0x83, 3, 0x8c, 4), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA-24] r12=[CFA-32] r15=[CFA-16]"},
		{"offset_extended", call, join(0x05, 3, 2), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA-16]"},
		{"offset_extended_sf", call, join(0x11, 3, 0x7f), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA+8]"},
		{"GNU_negative_offset_extended", call, join(0x2f, 3, 2), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA+16]"},
		{"val_offset", call, join(0x14, 3, 2), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=CFA-16"},
		{"val_offset_sf", call, join(0x15, 3, 0x7e), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=CFA+16"},
		{"register", call, join(0x09, 16, 3), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=r3 FP=same"},
		{"same_value", call, join(0x08, 3, 0x08, 6), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=same"},
		{"undefined", call, join(0x07, 3), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=undefined"},
		{"expression", call, join(0x10, 3, 2, 0x77, 0x10), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[breg7+16]"},
		{"val_expression", call, join(0x16, 3, 1, 0x96), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=nop"},
		{"expressions everywhere", call, join(0x0f, 1, 0x30, 0x10, 16, 1, 0x31, 0x10, 6, 1, 0x32, 0x16, 3, 1, 0x33), 0x1000, 0x1000, 0x1100, "CFA=lit0 RA=[lit1] FP=[lit2] r3=lit3"},
		{"restore to the CIE's rule", join(call, 0x83, 5), join(0x83, 2, 0xc3), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA-40]"},
		{"restore of RA", call, join(0x07, 16, 0xd0), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"restore where the CIE has none", call, join(0x83, 2, 0x86, 3, 0x06, 3, 0xc6), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},

		// 6.4.2.4: the set of rules for every register, the CFA's included.
		{"remembered", call, join(0x83, 2, 0x0a, 0x0e, 32, 0x83, 3, 0x86, 4, 0x41, 0x0b), 0x1000, 0x1000, 0x1001, "CFA=r7+32 RA=[CFA-8] FP=[CFA-32] r3=[CFA-24]"},
		{"restored", call, join(0x83, 2, 0x0a, 0x0e, 32, 0x83, 3, 0x86, 4, 0x41, 0x0b), 0x1001, 0x1001, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA-16]"},
		{"remembered deeply", call, join(strings.Repeat("\x0a\x83\x02\x8c\x03", 9), strings.Repeat("\x0b", 8)), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same r3=[CFA-16] r12=[CFA-24]"},
		{"restored deeply", call, join(strings.Repeat("\x0a\x83\x02\x8c\x03", 9), strings.Repeat("\x0b", 9)), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},

		{"padding and GNU_args_size", call, join(0x2e, 0x80, 1, 0, 0, 0), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"a register beyond the bound", call, join(0x05, 0x80, 8, 1), 0x1000, 0x1000, 0x1100, "CFA=r7+8 RA=[CFA-8] FP=same"},
		{"broken behind the line", call, join(0x44, 0x3f), 0x1003, 0x1000, 0x1004, "CFA=r7+8 RA=[CFA-8] FP=same"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := cfi.Open(cfi.Debug, handMade(test.initial, test.program), 0, amd64)
			if err != nil {
				t.Fatal(err)
			}
			row, f, err := s.Row(test.pc)
			if err != nil {
				t.Fatal(err)
			}
			got := format(row)
			if row.CFA.Kind == trad.NotTracked {
				got = "CFA=? " + got
			}
			if got != test.want || row.Lo != test.lo || row.Lo+uint64(row.Len) != test.end {
				t.Errorf("got %#x..%#x %s\nwant %#x..%#x %s", row.Lo, row.Lo+uint64(row.Len), got, test.lo, test.end, test.want)
			}
			if row.Others == nil || row.Others.Default != trad.Same {
				t.Error("registers that are not listed are not the same")
			}
			if f.CIE.Version != 4 || f.Start != 0x1000 || f.Len != 0x100 {
				t.Errorf("FDE %+v", f)
			}
		})
	}
}

// A program with many registers or many remembered states needs an allocation.
func TestManyRules(t *testing.T) {
	var program []byte
	want := "CFA=r7+8 RA=[CFA-8] FP=same"
	for reg := 255; reg > 16; reg-- {
		program = join(program, 0x05, reg&0x7f|0x80, reg>>7, 1)
	}
	for reg := 17; reg < 256; reg++ {
		want += fmt.Sprintf(" r%d=[CFA-8]", reg)
	}
	program = join(program, strings.Repeat("\x0a", 256), strings.Repeat("\x0b", 256))
	s, err := cfi.Open(cfi.Debug, handMade(join(0x0c, 7, 8, 0x90, 1), program), 0, amd64)
	if err != nil {
		t.Fatal(err)
	}
	row, _, err := s.Row(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	if got := format(row); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// A signed return address: AADWARF64, "Call frame instructions".
func TestSignedReturnAddress(t *testing.T) {
	opts := amd64
	opts.PAuth = true
	for _, test := range []struct {
		name    string
		program []byte
		signed  bool
	}{
		{"none", nil, false},
		{"negate_ra_state", join(0x2d), true},
		{"negated twice", join(0x2d, 0x2d), false},
		{"negate_ra_state_with_pc", join(0x2c), true},
		{"set_ra_state 2", join(0x2b, 2, 0x7c), true},
		{"set_ra_state 0", join(0x2d, 0x2b, 0, 0), false},
		{"remembered", join(0x2d, 0x0a, 0x2d, 0x0b), true},
	} {
		s, err := cfi.Open(cfi.Debug, handMade(join(0x0c, 7, 8), test.program), 0, opts)
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := s.Row(0x1000)
		if err != nil || (row.Flags&trad.MangledRA != 0) != test.signed {
			t.Errorf("%s: %s, %v", test.name, format(row), err)
		}
	}
}

func TestMalformedPrograms(t *testing.T) {
	call := join(0x0c, 7, 8, 0x90, 1)
	for _, test := range []struct {
		name             string
		initial, program []byte
		want             string
		is               error
	}{
		// The CIE is 14 bytes and its instructions; the FDE's program begins 24 bytes into it.
		{"restore_state", call, join(0, 0x0b), "cfi: .debug_frame FDE at 0x14: DW_CFA_restore_state at 0x2d: state stack is empty", cfi.ErrMalformed},
		{"restore_state of the CIE's", join(call, 0x0a), join(0x0b), "state stack is empty", cfi.ErrMalformed},
		{"in the CIE", join(call, 0x0b), nil, "cfi: .debug_frame CIE at 0x0: DW_CFA_restore_state at 0x14: state stack is empty", cfi.ErrMalformed},
		{"remember_state", call, join(strings.Repeat("\x0a", 257)), "state stack is full", cfi.ErrUnsupported},
		{"unknown instruction", call, join(0x3f), "instruction 0x3f at 0x2c: is unknown", cfi.ErrUnsupported},
		{"GNU_window_save", call, join(0x2d), "is for another architecture", cfi.ErrUnsupported},
		{"no operand", call, join(0x0e), "runs past the end of the entry", cfi.ErrMalformed},
		{"endless operand", call, join(0x0e, 0x80, 0x80), "runs past the end of the entry", cfi.ErrMalformed},
		{"huge operand", call, join(0x0e, strings.Repeat("\xff", 10), 1), "does not fit in 64 bits", cfi.ErrMalformed},
		{"far offset", call, join(0x83, 0xff, 0xff, 0xff, 0xff, 0x7f), "DW_CFA_offset at 0x2c: offset does not fit in 32 bits", cfi.ErrMalformed},
		{"far CFA", call, join(0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f), "offset does not fit in 32 bits", cfi.ErrMalformed},
		{"register number", call, join(0x0c, 0xff, 0xff, 0xff, 1, 8), "register number does not fit", cfi.ErrMalformed},
		{"register of an expression", call, join(0x0f, 1, 0x30, 0x0d, 7), "the CFA is an expression", cfi.ErrMalformed},
		{"offset of an expression", call, join(0x0f, 1, 0x30, 0x0e, 7), "the CFA is an expression", cfi.ErrMalformed},
		{"expression too long", call, join(0x0f, 2, 0x30), "runs past the end of the entry", cfi.ErrMalformed},
		{"very many instructions", call, make([]byte, 1<<20), "is beyond the limit", cfi.ErrUnsupported},
		{"padded operand", call, join(0x0e, strings.Repeat("\x80", 16), 1), "does not fit in 64 bits", cfi.ErrMalformed},
		{"no CFA", nil, nil, "the CFA is not defined", cfi.ErrMalformed},
		{"set_loc backwards", call, join(0x01, u64(0xfff)), "goes back from 0x1000 to 0xfff", cfi.ErrMalformed},
		{"advance too far", call, join(0x1d, strings.Repeat("\xff", 8)), "past the end of the address space", cfi.ErrMalformed},
		{"advance in the CIE", join(call, 0x41), nil, "advances in a CIE", cfi.ErrMalformed},
	} {
		s, err := cfi.Open(cfi.Debug, handMade(test.initial, test.program), 0, amd64)
		if err != nil {
			t.Fatal(err)
		}
		row, f, err := s.Row(0x10ff)
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.is) {
			t.Errorf("%s: %s, %v; want %q", test.name, format(row), err, test.want)
		}
		if f.Start != 0x1000 {
			t.Errorf("%s: error without the FDE", test.name)
		}
		last := error(nil)
		for _, err := range s.Rows(f) {
			last = err
		}
		if last == nil || last.Error() != err.Error() {
			t.Errorf("%s: Rows gives %v, want %v", test.name, last, err)
		}
	}
}

// TestRowsWithoutCFA: Rows goes on after a line without a CFA. DWARF 5, section 6.4.1, has
// no rule for a CFA that no instruction has defined.
func TestRowsWithoutCFA(t *testing.T) {
	s, err := cfi.Open(cfi.Debug, handMade(nil, join(0x42, 0x0c, 7, 8)), 0, amd64) // advance 2, def_cfa
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Find(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, err := range s.Rows(f) {
		got = append(got, fmt.Sprintf("%#x+%d %v %v", row.Lo, row.Len, errors.Is(err, cfi.ErrNoCFA), row.CFA.Kind == trad.InReg))
	}
	if want := "0x1000+2 true false; 0x1002+254 false true"; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
