package sframe

import (
	"errors"
	"testing"
)

// TestFlexWords: control words of every size, in either byte order; bit 2 and
// the base bit of the FRE mean nothing (Flexible FDE Type Interpretation).
func TestFlexWords(t *testing.T) {
	for _, abi := range []ABI{AArch64BE, AArch64LE, AMD64} {
		order := orderOf(abi)
		for ws, word := range []func(uint32) any{
			func(n uint32) any { return uint8(n) }, func(n uint32) any { return uint16(n) }, func(n uint32) any { return n },
		} {
			last := uint32([]int{31, 8191, 65535}[ws])    // the last register: 5 and 13 bits, and our 16
			low := []int32{-128, -32768, -2147483648}[ws] // the lowest offset
			fres := pack(t, order, uint16(4), uint8(0), uint8(1), uint8(0))
			row := func(start, sp uint8, words ...uint32) {
				fres = append(fres, start, uint8(ws)<<5|uint8(len(words))<<1|sp)
				for _, w := range words {
					fres = append(fres, pack(t, order, word(w))...)
				}
			}
			row(0, 0, last<<3|7, uint32(low), 6, 0, 1<<3|5, 127)           // bit 2 set throughout
			row(4, 1, 1<<3|1, 0, 0, 2, uint32(low))                        // RA padded
			row(8, 1, 1<<3|1, 5, last<<3|1, 127, 0)                        // FP padded
			row(12, 0, 1<<3|3, 5, last<<3|2, uint32(0xfffffff8), 9<<3, 16) // a register without bit 0: the CFA
			s := mustOpen(t, section(t, order, headerLayout{Version: 3, Flags: 1, ABI: uint8(abi), FixedRA: -8},
				[]any{indexV3{0x7000, 16, 0}}, fres), 0x1000)
			checkFinds(t, s, []find{
				{pc: 0x8000, row: Row{Lo: 0x8000, Len: 4, CFA: at(uint16(last), low), RA: saved(0), FP: reg(1, 127)}},
				{pc: 0x8004, row: Row{Lo: 0x8004, Len: 4, CFA: reg(1, 0), RA: saved(-8), FP: saved(low)}},
				{pc: 0x8008, row: Row{Lo: 0x8008, Len: 4, CFA: reg(1, 5), RA: reg(uint16(last), 127), FP: same}},
				{pc: 0x800c, row: Row{Lo: 0x800c, Len: 4, CFA: at(1, 5), RA: saved(-8), FP: Rule{Kind: RuleValue, Off: 16}}},
			})
		}
	}
}

// TestPlaceHolder: the 0 in RA's place says that RA is unchanged and FP's word follows. The
// specification has it for s390x. binutils 2.47 reads it so wherever the header does not fix RA. A
// 0 for FP is an offset.
func TestPlaceHolder(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, abi := range abisOf(v) {
			order := orderOf(abi)
			fde, fres := fdeOf(t, order, v, 0x7000, 16, 0, 2, 0, 0)
			h := headerLayout{Version: uint8(v), Flags: 1, ABI: uint8(abi)}
			cfa, ra, first, last := reg(abi.SP(), 16), same, saved(-16), saved(0)
			switch abi {
			case AMD64: // the second word is FP's, the third has no meaning
				h.FixedRA, ra, first, last = -8, saved(-8), saved(0), saved(-16)
			case S390X:
				cfa.Off = 288
			}
			s := mustOpen(t, section(t, order, h, []any{fde}, append(fres, 0, 7, 16, 0, 0xf0, 4, 7, 16, 0xf0, 0)), 0x1000)
			second := Row{Lo: 0x8004, Len: 12, CFA: cfa, RA: saved(-16), FP: last}
			if abi == AMD64 {
				second.RA = ra
			}
			checkFinds(t, s, []find{{pc: 0x8000, row: Row{Lo: 0x8000, Len: 4, CFA: cfa, RA: ra, FP: first}}, {pc: 0x8004, row: second}})
		}
	}
}

// TestRuleErrors has the whole message for each error in an FRE's data words.
func TestRuleErrors(t *testing.T) {
	v1 := headerLayout{Version: 1, ABI: 3, FixedRA: -8}
	v2 := headerLayout{Version: 2, ABI: 3, FixedRA: -8}
	z2 := headerLayout{Version: 2, ABI: 4}
	z3 := headerLayout{Version: 3, ABI: 4}
	v3 := headerLayout{Version: 3, ABI: 3, FixedRA: -8}
	fde1 := fdeV1{Start: 0x7000, Size: 16, NumFREs: 1}
	fde2 := fdeV2{Start: 0x7000, Size: 16, NumFREs: 1}
	flex := []byte{1, 0, 0, 1, 0}
	bigFlex := []byte{0, 1, 0, 1, 0}
	tests := []struct {
		h    headerLayout
		fde  any
		fres []byte
		text string
	}{
		{v1, fde1, []byte{0, 1},
			"sframe: FDE 0: FRE 0: no data words, expected at least the CFA's (info byte 0x1, data words ), field at section offset 0x2d"},
		{v2, fde2, []byte{0, 0x60},
			"sframe: FDE 0: FRE 0: data word size 3, expected 0 to 2, field at section offset 0x31"},
		{z2, fde2, []byte{0, 0x43, 0x10, 0, 0, 0},
			"sframe: FDE 0: FRE 0: the decoded CFA offset does not fit 32 bits (info byte 0x43, data words 0x10000000), field at section offset 0x30"},
		{z2, fde2, []byte{0, 5, 0, 0xff},
			"sframe: FDE 0: FRE 0: RA's register number is not one of 0 to 65535 (info byte 0x5, data words 0x00ff), field at section offset 0x30"},
		{z2, fde2, []byte{0, 7, 0, 0, 0x81},
			"sframe: FDE 0: FRE 0: FP's register number is not one of 0 to 65535 (info byte 0x7, data words 0x000081), field at section offset 0x30"},
		{z2, fde2, []byte{0, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1}, // register 0x10000
			"sframe: FDE 0: FRE 0: FP's register number is not one of 0 to 65535 (info byte 0x47, data words 0x000000000000000000020001), field at section offset 0x30"},
		{z3, indexV3{0x7000, 16, 0}, append(bigFlex, 0, 0x45, 0, 0, 0, 0x79, 0x0f, 0xff, 0xff, 0xec),
			"sframe: FDE 0: FRE 0: the decoded CFA offset does not fit 32 bits (info byte 0x45, data words 0x000000790fffffec), field at section offset 0x31"},
		{v3, indexV3{0x7000, 16, 0}, append(flex, 0, 2, 0x39),
			"sframe: FDE 0: FRE 0: a control word without its offset (info byte 0x2, data words 0x39), field at section offset 0x31"},
		{v3, indexV3{0x7000, 16, 0}, append(flex, 0, 6, 0x39, 8, 0x02),
			"sframe: FDE 0: FRE 0: a control word without its offset (info byte 0x6, data words 0x390802), field at section offset 0x31"},
		{v3, indexV3{0x7000, 16, 0}, append(flex, 0, 8, 0x39, 8, 0, 0x33),
			"sframe: FDE 0: FRE 0: a control word without its offset (info byte 0x8, data words 0x39080033), field at section offset 0x31"},
		{v3, indexV3{0x7000, 16, 0}, append(flex, 0, 4, 0, 8),
			"sframe: FDE 0: FRE 0: the CFA's control word names no register (info byte 0x4, data words 0x0008), field at section offset 0x31"},
		{v3, indexV3{0x7000, 16, 0}, append(flex, 0, 0x44, 1, 0, 8, 0, 0, 0, 0, 0),
			"sframe: FDE 0: FRE 0: a control word's register number does not fit 16 bits (info byte 0x44, data words 0x0100080000000000), field at section offset 0x31"},
	}
	for _, test := range tests {
		order := orderOf(ABI(test.h.ABI))
		s := mustOpen(t, section(t, order, test.h, []any{test.fde}, test.fres), 0x1000)
		_, err := s.Find(0x8000)
		if err == nil || err.Error() != test.text {
			t.Errorf("Find: %v\nexpected %v", err, test.text)
		}
		f, err := s.FDE(0)
		if err != nil {
			t.Error(err)
		}
		for _, err := range s.FREs(f) {
			if err == nil || err.Error() != test.text || !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("FREs: %v\nexpected %v", err, test.text)
			}
		}
	}
}

// TestErrorsCount: an error names its FDE and FRE by their numbers, and its field by the offset in
// the section, wherever they lie.
func TestErrorsCount(t *testing.T) {
	h := headerLayout{Version: 3, Flags: 1, ABI: 1, AuxLen: 4, FDEOff: 8}
	var fdes []any
	for i := range 13 {
		fdes = append(fdes, indexV3{0x7000 + int64(i)*16, 16, 0})
	}
	fdes[11] = indexV3{0x70b0, 16, 14}
	fdes[12] = indexV3{0x70c0, 16, 0x9f00}
	fres := []byte{0, 1, 0, 0, 0, 0, 3, 8, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 1, 3, 8, 0, 2, 0x25, 0, 1, 0, 2, 0, 1, 3, 8}
	s := mustOpen(t, section(t, big, h, fdes, fres), 0x1000)
	for _, test := range []struct {
		pc   uint64
		text string
	}{
		// 40 bytes before the FDEs, 13 FDEs of 16 bytes.
		{0x80c0, "sframe: FDE 12: start of FREs 0x9f00 lies beyond the FRE sub-section (0x22 bytes), field at section offset 0xf4"},
		// The FREs start at 0xf8. FDE 11's attribute is 14 bytes further, its third FRE 31.
		{0x80bf, "sframe: FDE 11: FRE 2: start offset 0x1 after 0x2, expected ascending order, field at section offset 0x116"},
	} {
		if _, err := s.Find(test.pc); err == nil || err.Error() != test.text {
			t.Errorf("Find(%#x): %v\nexpected %v", test.pc, err, test.text)
		}
	}
}
