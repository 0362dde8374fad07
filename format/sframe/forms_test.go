package sframe

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"
)

// The forms that no assembler writes, with their meaning in the specification.

var (
	same  = Rule{Kind: RuleSame}
	undef = Rule{Kind: RuleUndefined}
)

func reg(r uint16, off int32) Rule { return Rule{Kind: RuleInReg, Reg: r, Off: off} }
func at(r uint16, off int32) Rule  { return Rule{Kind: RuleSavedAt, Reg: r, Off: off} }
func saved(off int32) Rule         { return Rule{Kind: RuleSaved, Off: off} }

// find is one look-up and its answer.
type find struct {
	pc  uint64
	row Row
	err error
}

func checkFinds(t *testing.T, s *Section, finds []find) {
	t.Helper()
	for _, f := range finds {
		row, err := s.Find(f.pc)
		if !errors.Is(err, f.err) || (err == ErrSignalFrame) != (f.err == ErrSignalFrame) || err == nil && row != f.row {
			t.Errorf("Find(%#x): %v, %v\n  expected %v, %v", f.pc, row, err, f.row, f.err)
		}
	}
}

func TestForms(t *testing.T) {
	const sorted, pcrel = uint8(FDESorted), uint8(FDEFuncStartPCRel)
	amd := headerLayout{Version: 2, Flags: sorted, ABI: 3, FixedRA: -8}
	withFlags := func(h headerLayout, flags uint8) headerLayout { h.Flags = flags; return h }
	amd3 := amd
	amd3.Version = 3
	fixedFP := amd
	fixedFP.FixedFP = -16
	s390x := headerLayout{Version: 2, Flags: sorted, ABI: 4}
	arm := headerLayout{Version: 2, Flags: sorted, ABI: 2}
	aux := amd
	aux.AuxLen = 3
	aux.FDEOff = 5
	sp8 := Row{Lo: 0x1000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}
	bare := []byte{0, 3, 8} // at 0: SP based (bit 0), one word (bits 1-4), CFA = SP+8

	tests := []struct {
		name  string
		order binary.ByteOrder
		h     headerLayout
		addr  uint64
		fdes  []any
		fres  []byte
		finds []find
	}{{
		// Changes from Version 1 to Version 2, errata 1: the offset counts from the field:
		// 0x2000 + 28 (header) - 0x101c = 0x1000. The second field lies 20 bytes further:
		// 0x2030 - 0x1020 = 0x1010.
		name: "V2 PCREL", order: little, h: withFlags(amd, sorted|pcrel), addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x101c, Size: 16, NumFREs: 1}, fdeV2{Start: -0x1020, Size: 4, NumFREs: 1}}, fres: bare,
		finds: []find{
			{pc: 0xfff, err: ErrNoFDE},
			{pc: 0x1000, row: sp8}, {pc: 0x100f, row: sp8},
			{pc: 0x1013, row: Row{Lo: 0x1010, Len: 4, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x1014, err: ErrNoFDE},
		},
	}, {
		// V2, s390x: CFA = offset1*8+160. An odd value for RA or FP names a register (value>>1). RA
		// offset 0 is a place holder.
		name: "V2 s390x", order: big, h: s390x, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 32, NumFREs: 5, Info: 1}}, // FREs of 2-byte offsets
		fres: []byte{
			0, 0, 0x03, 0, // SP+0*8+160
			0, 4, 0x07, 0, 0x23, 0x21, // RA in f1's 17 = 0x23>>1, FP in 16
			0, 8, 0x07, 20, 0, 0xb8, // SP+320, RA not saved, FP at CFA-72
			0, 12, 0x26, 0, 20, 0xff, 0xd0, 0xff, 0xb8, // 2-byte words: FP+320, RA at CFA-48, FP at CFA-72
			0, 16, 0x05, 0xfe, 0xd0, // two words: SP+144, RA at CFA-48
		},
		finds: []find{
			{pc: 0x1003, row: Row{Lo: 0x1000, Len: 4, CFA: reg(15, 160), RA: same, FP: same}},
			{pc: 0x1004, row: Row{Lo: 0x1004, Len: 4, CFA: reg(15, 160), RA: reg(17, 0), FP: reg(16, 0)}},
			{pc: 0x1009, row: Row{Lo: 0x1008, Len: 4, CFA: reg(15, 320), RA: same, FP: saved(-72)}},
			{pc: 0x100c, row: Row{Lo: 0x100c, Len: 4, CFA: reg(11, 320), RA: saved(-48), FP: saved(-72)}},
			{pc: 0x101f, row: Row{Lo: 0x1010, Len: 16, CFA: reg(15, 144), RA: saved(-48), FP: same}},
		},
	}, {
		// V2, s390x: a negative odd value is no register. A scaled 4-byte offset may not fit an
		// offset's 32 bits.
		name: "V2 s390x malformed", order: big, h: s390x, addr: 0x2000,
		fdes:  []any{fdeV2{Start: -0x1000, Size: 32, NumFREs: 3}},
		fres:  []byte{0, 0x05, 0, 0xff, 4, 0x43, 0x7f, 0xff, 0xff, 0xff, 8, 0x07, 0, 0, 0xff},
		finds: []find{{pc: 0x1000, err: ErrMalformed}, {pc: 0x1004, err: ErrMalformed}, {pc: 0x1008, err: ErrMalformed}},
	}, {
		// Changes from Version 1 to Version 2, errata 2: no words, RA undefined.
		name: "V2 outermost", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 2}},
		fres: []byte{0, 1, 8, 3, 8},
		finds: []find{
			{pc: 0x1007, row: Row{Lo: 0x1000, Len: 8, Flags: RowOutermost, RA: undef}},
			{pc: 0x1008, row: Row{Lo: 0x1008, Len: 8, CFA: reg(7, 8), RA: saved(-8), FP: same}},
		},
	}, {
		name: "V1 needs a word", order: little, h: headerLayout{Version: 1, Flags: sorted, ABI: 3, FixedRA: -8}, addr: 0x2000,
		fdes:  []any{fdeV1{Start: -0x1000, Size: 16, NumFREs: 1}},
		fres:  []byte{0, 1},
		finds: []find{{pc: 0x1007, err: ErrMalformed}},
	}, {
		// SFrame Header: sfh_cfa_fixed_fp_offset stands before any data word.
		name: "fixed FP", order: little, h: fixedFP, addr: 0x2000,
		fdes:  []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 1}},
		fres:  []byte{0, 5, 8, 0x40},
		finds: []find{{pc: 0x1000, row: Row{Lo: 0x1000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: saved(-16)}}},
	}, {
		// V3, s390x: an odd offset is an offset; registers take the flexible form.
		name: "V3 s390x", order: big, h: headerLayout{Version: 3, Flags: sorted, ABI: 4}, addr: 0x2000,
		fdes:  []any{indexV3{-0x1000, 16, 0}},
		fres:  []byte{0, 1, 0, 0, 0, 0, 7, 0xff, 0x23, 0x21}, // SP-1*8+160
		finds: []find{{pc: 0x1000, row: Row{Lo: 0x1000, Len: 16, CFA: reg(15, 152), RA: saved(0x23), FP: saved(0x21)}}},
	}, {
		// The SFrame FDE Info Bytes: the key bit means nothing on AMD64.
		name: "key bit", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 1, Info: 0x20}}, fres: bare,
		finds: []find{{pc: 0x1000, row: sp8}},
	}, {
		// AArch64: 1 or 3 offsets; RA alone is the natural reading of 2.
		name: "AArch64", order: little, h: arm, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 3, Info: 0x20}}, // pauth key B
		fres: []byte{0, 3, 0, 4, 0x86, 16, 0xf8, 0xf0, 8, 5, 32, 0xe8},
		finds: []find{
			{pc: 0x1000, row: Row{Lo: 0x1000, Len: 4, Flags: RowPauthB, CFA: reg(31, 0), RA: same, FP: same}},
			{pc: 0x1004, row: Row{Lo: 0x1004, Len: 4, Flags: RowPauthB | RowMangledRA, CFA: reg(29, 16), RA: saved(-8), FP: saved(-16)}},
			{pc: 0x1008, row: Row{Lo: 0x1008, Len: 8, Flags: RowPauthB, CFA: reg(31, 32), RA: saved(-24), FP: same}},
		},
	}, {
		// SFrame Header: the header ends where the auxiliary header does. There is also a gap of 5
		// bytes before the FDEs.
		name: "auxiliary header", order: little, h: aux, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 1}}, fres: bare,
		finds: []find{{pc: 0x1000, row: sp8}},
	}, {
		name: "nothing before the first FRE", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 1}}, fres: []byte{4, 3, 8},
		finds: []find{
			{pc: 0x1003, err: ErrNoRow},
			{pc: 0x1004, row: Row{Lo: 0x1004, Len: 12, CFA: reg(7, 8), RA: saved(-8), FP: same}},
		},
	}, {
		name: "no FREs before V3", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16}}, fres: bare,
		finds: []find{{pc: 0x1003, err: ErrNoRow}},
	}, {
		// Changes from Version 2 to Version 3: a Default FDE with no FREs is
		// outermost; a Flex one says nothing.
		name: "V3 no FREs", order: big, h: headerLayout{Version: 3, Flags: sorted, ABI: 1}, addr: 0x2000,
		fdes: []any{indexV3{-0x1000, 16, 0}, indexV3{-0xff0, 16, 5}},
		fres: []byte{0, 0, 0, 0xe0, 0, 0, 0, 0, 1, 0}, // the first: unused bits of the second info byte
		finds: []find{
			{pc: 0x100f, row: Row{Lo: 0x1000, Len: 16, Flags: RowOutermost, RA: undef}},
			{pc: 0x1010, err: ErrNoRow},
		},
	}, {
		// binutils 2.47 writes the first FDE for a signal frame whose directives SFrame has no form
		// for (gas/testsuite/gas/cfi-sframe/cfi-sframe-x86_64-signal-1). The second has the
		// flexible type, the third a row, but not for this PC. The fourth is outermost by an FRE
		// without words.
		name: "V3 signal frames", order: big, h: headerLayout{Version: 3, Flags: sorted, ABI: 1}, addr: 0x2000,
		fdes: []any{indexV3{-0x1000, 16, 0}, indexV3{-0xff0, 16, 5}, indexV3{-0xfe0, 16, 10}, indexV3{-0xfd0, 16, 18}},
		fres: []byte{
			0, 0, 0x80, 0, 0,
			0, 0, 0x80, 1, 0,
			0, 1, 0x80, 0, 0, 8, 3, 16,
			0, 1, 0x80, 0, 0, 0, 0,
		},
		finds: []find{
			{pc: 0x1000, err: ErrSignalFrame}, {pc: 0x100f, err: ErrSignalFrame},
			{pc: 0x1010, err: ErrSignalFrame},
			{pc: 0x1027, err: ErrSignalFrame},
			{pc: 0x1028, row: Row{Lo: 0x1028, Len: 8, Flags: RowSignal, CFA: reg(31, 16), RA: same, FP: same}},
			{pc: 0x1030, row: Row{Lo: 0x1030, Len: 16, Flags: RowOutermost | RowSignal, RA: undef}},
		},
	}, {
		// The bit is V3's; before V3 it is unused.
		name: "V2 signal bit", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, Info: 0x80}, fdeV2{Start: -0xff0, Size: 16, NumFREs: 1, Info: 0x80}}, fres: bare,
		finds: []find{
			{pc: 0x1003, err: ErrNoRow},
			{pc: 0x1010, row: Row{Lo: 0x1010, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
		},
	}, {
		// The SFrame FDE Index: 64-bit offsets, more than 4 GiB apart; a
		// section near the end of the address space.
		name: "V3 far", order: little, h: amd3, addr: 0xffffffff80000000,
		fdes: []any{indexV3{-1 << 40, 16, 0}, indexV3{1 << 20, 16, 0}, indexV3{0x7ffffff0, 15, 0}},
		fres: []byte{1, 0, 0, 0, 0, 0, 3, 8},
		finds: []find{
			{pc: 0xfffffeff8000000f, row: Row{Lo: 0xfffffeff80000000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0xffffffff80100001, row: Row{Lo: 0xffffffff80100000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0xfffffffffffffffe, row: Row{Lo: 0xfffffffffffffff0, Len: 15, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0xffffffffffffffff, err: ErrNoFDE}, {pc: 0, err: ErrNoFDE}, {pc: 0x100000, err: ErrNoFDE},
		},
	}, {
		// A range that wraps around: the FDE is malformed, and so never answers.
		name: "wraps", order: little, h: amd, addr: 0xfffffffffffff000,
		fdes: []any{fdeV2{Start: 0x100, Size: 0xffffffff, NumFREs: 1}}, fres: bare,
		finds: []find{{pc: 0xfffffffffffff100, err: ErrMalformed}, {pc: 0xfff, err: ErrMalformed}},
	}, {
		// The SFrame FDE PC Types: PC % 24 >= start; the last block is cut.
		name: "PC mask", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 60, NumFREs: 2, Info: 0x10, RepSize: 24}},
		fres: []byte{2, 3, 8, 11, 3, 16},
		finds: []find{
			{pc: 0x1001, err: ErrNoRow},
			{pc: 0x1002, row: Row{Lo: 0x1002, Len: 9, Flags: RowPCMask, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x102f, row: Row{Lo: 0x1023, Len: 13, Flags: RowPCMask, CFA: reg(7, 16), RA: saved(-8), FP: same}},
			{pc: 0x1030, err: ErrNoRow},
			{pc: 0x103b, row: Row{Lo: 0x103b, Len: 1, Flags: RowPCMask, CFA: reg(7, 16), RA: saved(-8), FP: same}},
			{pc: 0x103c, err: ErrNoFDE},
		},
	}, {
		name: "PC mask without a repeat size", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 60, NumFREs: 1, Info: 0x10}}, fres: bare,
		finds: []find{{pc: 0x1001, err: ErrMalformed}},
	}, {
		// Flexible FDE Type Interpretation, on AMD64 (RBP 6, RSP 7).
		name: "V3 flexible", order: little, h: amd3, addr: 0x2000,
		fdes: []any{indexV3{-0x1000, 32, 0}},
		fres: []byte{
			9, 0, 0, 1, 0,
			0, 2 << 1, 0x53, 0xf8, // CFA = *(r10-8): 10<<3|3
			4, 3 << 1, 0x51, 0, 0, // CFA = r10; RA padding
			8, 5 << 1, 0x39, 16, 0, 0x33, 0, // CFA = r7+16; RA padding; FP = *(r6+0)
			12, 6 << 1, 0x39, 16, 0x02, 0xf0, 0x02, 0xe0, // RA = *(CFA-16), FP = *(CFA-32)
			16, 6 << 1, 0x39, 16, 0x19, 0, 0x21, 0xff, // RA = r3, FP = r4-1
			20, 0x20 | 4<<1, 0x09, 0x01, 0x00, 0x80, 0x0b, 0x00, 0xfe, 0xff, // 2-byte words: CFA = r33-32768, RA = *(r1-2)
			24, 4 << 1, 0x39, 16, 0x08, 0xff, // RA = CFA-1: no register, not dereferenced
			28, 0, // RA undefined
			30, 5 << 1, 0x39, 16, 0, 0, 0x7f, // RA and FP padding; a word too many
		},
		finds: []find{
			{pc: 0x1000, row: Row{Lo: 0x1000, Len: 4, CFA: at(10, -8), RA: saved(-8), FP: same}},
			{pc: 0x1004, row: Row{Lo: 0x1004, Len: 4, CFA: reg(10, 0), RA: saved(-8), FP: same}},
			{pc: 0x1008, row: Row{Lo: 0x1008, Len: 4, CFA: reg(7, 16), RA: saved(-8), FP: at(6, 0)}},
			{pc: 0x100c, row: Row{Lo: 0x100c, Len: 4, CFA: reg(7, 16), RA: saved(-16), FP: saved(-32)}},
			{pc: 0x1010, row: Row{Lo: 0x1010, Len: 4, CFA: reg(7, 16), RA: reg(3, 0), FP: reg(4, -1)}},
			{pc: 0x1014, row: Row{Lo: 0x1014, Len: 4, CFA: reg(33, -32768), RA: at(1, -2), FP: same}},
			{pc: 0x1018, row: Row{Lo: 0x1018, Len: 4, CFA: reg(7, 16), RA: Rule{Kind: RuleValue, Off: -1}, FP: same}},
			{pc: 0x101c, row: Row{Lo: 0x101c, Len: 2, Flags: RowOutermost, RA: undef}},
			{pc: 0x101e, row: Row{Lo: 0x101e, Len: 2, CFA: reg(7, 16), RA: saved(-8), FP: same}},
		},
	}, {
		// The CFA needs a register and an offset; a register number needs 16 bits.
		name: "V3 flexible malformed", order: little, h: amd3, addr: 0x2000,
		fdes: []any{indexV3{-0x1000, 32, 0}},
		fres: []byte{
			4, 0, 0, 1, 0,
			0, 2 << 1, 0x02, 8, // based on the CFA itself
			4, 1 << 1, 0x39, // no offset
			8, 3 << 1, 0x39, 8, 0x33, // no offset for RA
			12, 0x40 | 2<<1, 0x01, 0x00, 0x08, 0x00, 0, 0, 0, 0, // register 0x10000
		},
		finds: []find{{pc: 0x1000, err: ErrMalformed}, {pc: 0x1004, err: ErrMalformed}, {pc: 0x1008, err: ErrMalformed}, {pc: 0x100c, err: ErrMalformed}},
	}, {
		name: "undefined types", order: little, h: amd3, addr: 0x2000,
		fdes:  []any{indexV3{-0x1000, 16, 0}, indexV3{-0xff0, 16, 5}, indexV3{-0xfe0, 16, 10}},
		fres:  []byte{1, 0, 3, 0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0x63, 8}, // FRE type 3; FDE type 2; word size 3
		finds: []find{{pc: 0x1000, err: ErrUnsupported}, {pc: 0x1010, err: ErrUnsupported}, {pc: 0x1020, err: ErrUnsupported}},
	}, {
		name: "FREs descend", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 3}}, fres: []byte{0, 3, 8, 6, 3, 16, 4, 3, 24},
		finds: []find{{pc: 0x1005, row: Row{Lo: 0x1000, Len: 6, CFA: reg(7, 8), RA: saved(-8), FP: same}}, {pc: 0x1006, err: ErrMalformed}},
	}, {
		name: "FREs cut", order: little, h: amd, addr: 0x2000,
		fdes:  []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 2}, fdeV2{Start: -0xff0, Size: 16, FREOff: 3, NumFREs: 1}, fdeV2{Start: -0xfe0, Size: 16, FREOff: 6, NumFREs: 1}},
		fres:  []byte{0, 3, 8, 0, 0x43},
		finds: []find{{pc: 0x1005, err: ErrMalformed}, {pc: 0x1010, err: ErrMalformed}, {pc: 0x1020, err: ErrMalformed}},
	}, {
		// An FRE beyond the function's end ends no row and answers for nothing.
		name: "FRE beyond the function", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 2}}, fres: []byte{0, 3, 8, 200, 3, 16},
		finds: []find{{pc: 0x100f, row: sp8}, {pc: 0x1010, err: ErrNoFDE}},
	}, {
		// A discarded function at the start of a live one does not hide it.
		name: "size 0", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 16, NumFREs: 1}, fdeV2{Start: -0x1000, NumFREs: 1}, fdeV2{Start: -0x1000, NumFREs: 1}}, fres: bare,
		finds: []find{{pc: 0x1000, row: sp8}, {pc: 0x100f, row: sp8}, {pc: 0x1010, err: ErrNoFDE}},
	}, {
		// If two overlap, the one that starts later counts, and only inside it.
		name: "overlap", order: little, h: amd, addr: 0x2000,
		fdes: []any{fdeV2{Start: -0x1000, Size: 0xffffffff, NumFREs: 1}, fdeV2{Start: -0x800, Size: 16, NumFREs: 1}}, fres: bare,
		finds: []find{
			{pc: 0x1700, row: Row{Lo: 0x1000, Len: 0xffffffff, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x1800, row: Row{Lo: 0x1800, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x1810, err: ErrNoFDE},
		},
	}, {
		name: "no FDEs", order: little, h: amd, addr: 0x2000,
		finds: []find{{pc: 0x1700, err: ErrNoFDE}},
	}, {
		name: "no FDEs, unsorted", order: little, h: withFlags(amd, 0), addr: 0x2000,
		finds: []find{{pc: 0x1700, err: ErrNoFDE}},
	}, {
		name: "unsorted", order: little, h: withFlags(amd, pcrel), addr: 0x2000,
		fdes: []any{
			fdeV2{Start: -0x1c, Size: 16, NumFREs: 1},         // at 0x2000
			fdeV2{Start: -0x1030, Size: 16, NumFREs: 1},       // at 0x1000
			fdeV2{Start: 0x1000 - 0x44, Size: 0},              // size 0
			fdeV2{Start: -0x800 - 0x58, Size: 16, NumFREs: 1}, // at 0x1800
		},
		fres: bare,
		finds: []find{
			{pc: 0xfff, err: ErrNoFDE}, {pc: 0x1000, row: sp8}, {pc: 0x1010, err: ErrNoFDE},
			{pc: 0x180f, row: Row{Lo: 0x1800, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x2001, row: Row{Lo: 0x2000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}},
			{pc: 0x3000, err: ErrNoFDE},
		},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkFinds(t, mustOpen(t, section(t, test.order, test.h, test.fdes, test.fres), test.addr), test.finds)
		})
	}
}

// TestV1Mask: V1 stores no repeat size; a PLT entry has 16 bytes.
func TestV1Mask(t *testing.T) {
	h := headerLayout{Version: 1, Flags: 1, ABI: 3, FixedRA: -8}
	s := mustOpen(t, section(t, little, h, []any{fdeV1{Start: -0x1000, Size: 48, NumFREs: 2, Info: 0x10}}, []byte{0, 3, 8, 11, 3, 16}), 0x2000)
	checkFinds(t, s, []find{
		{pc: 0x101a, row: Row{Lo: 0x1010, Len: 11, Flags: RowPCMask, CFA: reg(7, 8), RA: saved(-8), FP: same}},
		{pc: 0x101b, row: Row{Lo: 0x101b, Len: 5, Flags: RowPCMask, CFA: reg(7, 16), RA: saved(-8), FP: same}},
		{pc: 0x1020, row: Row{Lo: 0x1020, Len: 11, Flags: RowPCMask, CFA: reg(7, 8), RA: saved(-8), FP: same}},
	})
	if f, err := s.FDE(0); err != nil || f.RepSize != 16 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestLyingSortedFlag: a wrong order may hide a function, but Find never gives a row for a PC
// outside the row's function.
func TestLyingSortedFlag(t *testing.T) {
	var fdes []any
	for i := range 64 {
		k := i * 37 % 64
		fdes = append(fdes, fdeV2{Start: int32(k*32) - 0x1000, Size: 16, NumFREs: 1})
	}
	s := mustOpen(t, section(t, little, headerLayout{Version: 2, Flags: 1, ABI: 3, FixedRA: -8}, fdes, []byte{0, 3, 8}), 0x2000)
	found := 0
	for pc := uint64(0xf00); pc < 0x2100; pc++ {
		row, err := s.Find(pc)
		if err != nil {
			if err != ErrNoFDE {
				t.Fatal(err)
			}
			continue
		}
		found++
		if pc < row.Lo || pc >= row.Lo+uint64(row.Len) || row.Lo%32 != 0 || row.Len != 16 {
			t.Fatalf("Find(%#x): %v", pc, row)
		}
	}
	if found == 0 {
		t.Error("not one look-up succeeded")
	}
}

// TestUnsortedConcurrently looks up PCs in many goroutines at once, which build the index. It is
// for the race detector.
func TestUnsortedConcurrently(t *testing.T) {
	var fdes []any
	for i := range 100 {
		fdes = append(fdes, fdeV2{Start: int32(100-i)*32 - 0x1000, Size: 32, NumFREs: 1})
	}
	s := mustOpen(t, section(t, little, headerLayout{Version: 2, ABI: 3, FixedRA: -8}, fdes, []byte{0, 3, 8}), 0x2000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				pc := 0x1020 + uint64((i*7+g)%100)*32 + 5
				if row, err := s.Find(pc); err != nil || row.Lo != pc-5 {
					t.Errorf("Find(%#x): %v, %v", pc, row, err)
				}
			}
		})
	}
	wg.Wait()
}
