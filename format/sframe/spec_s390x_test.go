package sframe

import "testing"

// TestS390XV2 reads a section of V2 for s390x, which no packaged assembler writes. The
// specification of V2 (errata 1), "s390x", has the rules. The CFA offset is the stored one times 8,
// plus 160. The second word places RA, the third FP. 0 stands for an RA that is not saved. The
// upper bits of an odd word are a DWARF register. The comments have CFA, FP and RA as binutils
// 2.47's objdump shows them for these bytes. "U" is the 0 in RA's place.
func TestS390XV2(t *testing.T) {
	const none = 0 // SFRAME_FRE_RA_OFFSET_INVALID
	sp := func(off int32) Rule { return reg(15, off) }
	fp := func(off int32) Rule { return reg(11, off) }
	in := func(r uint16) Rule { return reg(r, 0) }
	// An FRE has a base register (1 SP, 0 FP) and words of one size.
	b1 := func(start, base uint8, words ...int8) []byte {
		return pack(t, big, start, uint8(len(words))<<1|base, words)
	}
	b2 := func(start, base uint8, words ...int16) []byte {
		return pack(t, big, start, 0x20|uint8(len(words))<<1|base, words)
	}
	b4 := func(start, base uint8, words ...int32) []byte {
		return pack(t, big, start, 0x40|uint8(len(words))<<1|base, words)
	}
	rows := []struct {
		fre         []byte // at offset 4 times its number
		cfa, ra, fp Rule
	}{
		{b1(0, 1, 0), sp(160), same, same},                                                         // sp+160 u u
		{b1(4, 1, 0, -48), sp(160), saved(-48), same},                                              // sp+160 u c-48
		{b1(8, 1, 20, -48, -72), sp(320), saved(-48), saved(-72)},                                  // sp+320 c-72 c-48
		{b1(12, 0, 20, -48, -72), fp(320), saved(-48), saved(-72)},                                 // fp+320 c-72 c-48
		{b1(16, 1, 0, none, -72), sp(160), same, saved(-72)},                                       // sp+160 c-72 U
		{b1(20, 1, 0, none, 16<<1|1), sp(160), same, in(16)},                                       // sp+160 r16 U: FP in f0
		{b1(24, 1, 0, 18<<1|1, 17<<1|1), sp(160), in(18), in(17)},                                  // sp+160 r17 r18: RA in f4, FP in f2
		{b1(28, 1, 0, -48, 31<<1|1), sp(160), saved(-48), in(31)},                                  // sp+160 r31 c-48: FP in f15
		{b1(32, 1, 0, 14<<1|1), sp(160), in(14), same},                                             // sp+160 u r14
		{b1(36, 1, 0, 0<<1|1, 63<<1|1), sp(160), in(0), in(63)},                                    // sp+160 r63 r0
		{b1(40, 1, 127, -128, 126), sp(1176), saved(-128), saved(126)},                             // sp+1176 c+126 c-128
		{b1(44, 1, -20), sp(0), same, same},                                                        // sp+0 u u
		{b1(48, 1, -128), sp(-864), same, same},                                                    // sp+-864 u u
		{b2(52, 1, 128, -48, -72), sp(1184), saved(-48), saved(-72)},                               // sp+1184 c-72 c-48
		{b2(56, 0, 32767, -32768, 32767), fp(262296), saved(-32768), in(16383)},                    // fp+262296 r16383 c-32768
		{b2(60, 1, -32768, none, none), sp(-261984), same, saved(0)},                               // sp+-261984 c+0 U: 0 is no mark in FP's place
		{b4(64, 1, 32768, -48, -72), sp(262304), saved(-48), saved(-72)},                           // sp+262304 c-72 c-48
		{b4(68, 1, 268435435, -2147483648, 131071), sp(2147483640), saved(-2147483648), in(65535)}, // sp+2147483640 r65535 c-2147483648
		{b4(72, 1, -268435476, 2147483646), sp(-2147483648), saved(2147483646), same},              // sp+-2147483648 u c+2147483646
		{b1(76, 1), Rule{}, undef, Rule{}},                                                         // RA undefined (errata 2)
	}
	var fres []byte
	for _, r := range rows {
		fres = append(fres, r.fre...)
	}
	mask := uint32(len(fres))
	fres = append(fres, b1(0, 1, 0)...)
	fres = append(fres, b1(8, 1, 1)...)
	fdes := []any{ // field-relative: the fields lie 28 and 48 bytes on
		fdeV2{Start: 0x7000 - 28, Size: 4 * uint32(len(rows)), NumFREs: uint32(len(rows))},
		fdeV2{Start: 0x8000 - 48, Size: 40, FREOff: mask, NumFREs: 2, Info: 0x10, RepSize: 16},
	}
	h := headerLayout{Version: 2, Flags: 1 | 4, ABI: 4, NumFREs: uint32(len(rows)) + 2}
	s := mustOpen(t, section(t, big, h, fdes, fres), 0x1000)
	f, err := s.FDE(0)
	if err != nil || f.Start != 0x8000 || f.Type != FDEDefault || int(f.NumFREs) != len(rows) {
		t.Fatalf("%+v, %v", f, err)
	}
	i := 0
	for e, err := range s.FREs(f) {
		want := rows[i]
		if err != nil || e.Offset != uint32(4*i) || e.CFA != want.cfa || e.RA != want.ra || e.FP != want.fp {
			t.Errorf("row %d: %+v, %v, expected %+v", i, e, err, want)
		}
		row := Row{Lo: 0x8000 + uint64(4*i), Len: 4, CFA: want.cfa, RA: want.ra, FP: want.fp}
		if want.ra == undef {
			row.Flags = RowOutermost
		}
		checkFinds(t, s, []find{{pc: row.Lo, row: row}, {pc: row.Lo + 3, row: row}})
		i++
	}
	if i != len(rows) {
		t.Errorf("%d rows, expected %d", i, len(rows))
	}
	checkFinds(t, s, []find{
		{pc: 0x9007, row: Row{Lo: 0x9000, Len: 8, Flags: RowPCMask, CFA: sp(160), RA: same, FP: same}},
		{pc: 0x9018, row: Row{Lo: 0x9018, Len: 8, Flags: RowPCMask, CFA: sp(168), RA: same, FP: same}},
		{pc: 0x9027, row: Row{Lo: 0x9020, Len: 8, Flags: RowPCMask, CFA: sp(160), RA: same, FP: same}},
	})
}
