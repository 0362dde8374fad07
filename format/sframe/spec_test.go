package sframe

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// These tests follow the specifications form by form, in sections made by hand: each version and
// ABI with each width, the unused bits, the far ends of the address space. More forms are in
// forms_test.go, rules and their errors in spec_rules_test.go, s390x in spec_s390x_test.go.

// fdeOf makes an FDE of any version: its fixed part, and the attribute that V3 has at the start of
// the FREs.
func fdeOf(t testing.TB, order binary.ByteOrder, v Version, start int64, size, freOff, fres uint32, info, rep uint8) (fde any, attr []byte) {
	t.Helper()
	switch v {
	case V1:
		return fdeV1{Start: int32(start), Size: size, FREOff: freOff, NumFREs: fres, Info: info}, nil
	case V2:
		return fdeV2{Start: int32(start), Size: size, FREOff: freOff, NumFREs: fres, Info: info, RepSize: rep}, nil
	}
	return indexV3{Start: start, Size: size, FREOff: freOff}, pack(t, order, uint16(fres), info, uint8(0), rep)
}

// orderOf returns the byte order in an ABI's name.
func orderOf(a ABI) binary.ByteOrder {
	if a == AArch64BE || a == S390X {
		return big
	}
	return little
}

// abisOf are the ABIs of a version (SFrame ABI/arch Identifier).
func abisOf(v Version) []ABI {
	if v == V1 {
		return []ABI{AArch64BE, AArch64LE, AMD64}
	}
	return []ABI{AArch64BE, AArch64LE, AMD64, S390X}
}

// TestWidths reads FREs of every type with data words of every size, in every version and ABI.
// Offsets of FREs are unsigned, data words signed (The SFrame FRE Types, The SFrame FRE Info Word).
func TestWidths(t *testing.T) {
	// The largest start offset that a type holds, and a function that has it.
	starts := [...]uint32{Addr1: 0xff, Addr2: 0xffff, Addr4: 0xfffffffe}
	sizes := [...]uint32{Addr1: 0x100, Addr2: 0x10000, Addr4: 0xffffffff}
	words := [...]struct {
		most, least     int32 // that fit the data word
		s390x, s390xLow int32 // the CFA offset that they are on s390x: times 8, plus 160
	}{
		{127, -128, 1176, -864},
		{32767, -32768, 262296, -261984},
		{268435435, -268435476, 2147483640, -2147483648}, // the last ones that fit 32 bits when scaled
	}
	for _, v := range []Version{V1, V2, V3} {
		for _, abi := range abisOf(v) {
			for ft := Addr1; ft <= Addr4; ft++ {
				for ws, w := range words {
					t.Run(fmt.Sprintf("V%d/ABI%d/addr%d/words%d", v, abi, 1<<ft, 1<<ws), func(t *testing.T) {
						order := orderOf(abi)
						number := func(n int64, log int) []byte { // of 1, 2 or 4 bytes
							switch log {
							case 0:
								return []byte{byte(n)}
							case 1:
								return pack(t, order, uint16(n))
							}
							return pack(t, order, uint32(n))
						}
						h := headerLayout{Version: uint8(v), Flags: 1, ABI: uint8(abi)}
						regs := map[ABI][2]uint16{AArch64BE: {31, 29}, AArch64LE: {31, 29}, AMD64: {7, 6}, S390X: {15, 11}}[abi]
						tracked := 3
						if abi == AMD64 {
							h.FixedRA = -8
							tracked = 2 // RA is not
						}
						fde, fres := fdeOf(t, order, v, 0x7000, sizes[ft], 0, 2, uint8(ft), 0)
						row := func(start uint32, sp uint8, values ...int32) {
							fres = append(fres, number(int64(start), int(ft))...)
							fres = append(fres, uint8(ws)<<5|uint8(len(values))<<1|sp)
							for _, n := range values {
								fres = append(fres, number(int64(n), ws)...)
							}
						}
						// 2 is even: on s390x in V2 an odd one would name a register.
						row(0, 1, []int32{w.most, w.least, 2}[:tracked]...)
						row(starts[ft], 0, w.least)
						s := mustOpen(t, section(t, order, h, []any{fde}, fres), 0x1000)

						first := Row{Lo: 0x8000, Len: starts[ft], CFA: reg(regs[0], w.most), RA: saved(w.least), FP: saved(2)}
						last := Row{Lo: 0x8000 + uint64(starts[ft]), Len: 1, CFA: reg(regs[1], w.least), RA: same, FP: same}
						switch abi {
						case AMD64:
							first.RA, first.FP, last.RA = saved(-8), saved(w.least), saved(-8)
						case S390X:
							first.CFA.Off, last.CFA.Off = w.s390x, w.s390xLow
						}
						checkFinds(t, s, []find{
							{pc: 0x7fff, err: ErrNoFDE}, {pc: 0x8000, row: first}, {pc: last.Lo - 1, row: first},
							{pc: last.Lo, row: last}, {pc: last.Lo + 1, err: ErrNoFDE},
						})
						f, err := s.FDE(0)
						if err != nil || f.FREType != ft || f.NumFREs != 2 {
							t.Errorf("%+v, %v", f, err)
						}
						for e, err := range s.FREs(f) {
							if err != nil || e.Info.WordSize() != 1<<ws || len(e.Words) != e.Info.NumWords()<<ws {
								t.Errorf("%+v, %v", e, err)
							}
						}
					})
				}
			}
		}
	}
}

// TestInfoBits sets each bit of the info bytes of FDE and FRE (The SFrame FDE Info Bytes, The
// SFrame FRE Info Word). Unused parts mean nothing: bits 6 and 7 before V3, bit 6 in V3, the key
// except on AArch64; bits 5 to 7 of the second info byte; the repeat size of an FDE of PC type
// increment; V2's padding.
func TestInfoBits(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, abi := range abisOf(v) {
			order := orderOf(abi)
			for info := range 0x10 {
				for _, mangled := range []uint8{0, 0x80} {
					fde, fres := fdeOf(t, order, v, 0x7000, 16, 0, 1, uint8(info)<<4, 16)
					switch v {
					case V2:
						f := fde.(fdeV2)
						f.Padding = 0xffff
						fde = f
					case V3:
						fres[3] = 0xe0
					}
					fres = append(fres, 0, mangled|3, 16)
					h := headerLayout{Version: uint8(v), ABI: uint8(abi)}
					s := mustOpen(t, section(t, order, h, []any{fde}, fres), 0x1000)
					var want RowFlags
					if info&1 != 0 {
						want |= RowPCMask
					}
					if info&2 != 0 && (abi == AArch64LE || abi == AArch64BE) {
						want |= RowPauthB
					}
					if info&8 != 0 && v == V3 {
						want |= RowSignal
					}
					if mangled != 0 {
						want |= RowMangledRA
					}
					row, err := s.Find(0x800f)
					if err != nil || row.Flags != want || row.Lo != 0x8000 || row.Len != 16 {
						t.Errorf("V%d, ABI %d, info %#x, mangled %#x: %v, %v, expected %v", v, abi, info<<4, mangled, row, err, want)
					}
				}
			}
		}
	}
}

// TestNoWords: an FRE without data words says that RA is undefined, whatever its other bits are
// (Changes from Version 1 to Version 2, errata 2). V1 has no such FREs.
func TestNoWords(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, abi := range abisOf(v) {
			for _, info := range []uint8{0, 1, 0x20, 0x41} {
				order := orderOf(abi)
				fde, fres := fdeOf(t, order, v, 0x7000, 16, 0, 1, 0, 0)
				s := mustOpen(t, section(t, order, headerLayout{Version: uint8(v), ABI: uint8(abi), FixedRA: -8, FixedFP: -16},
					[]any{fde}, append(fres, 0, info)), 0x1000)
				want := find{pc: 0x8004, row: Row{Lo: 0x8000, Len: 16, Flags: RowOutermost, RA: undef}}
				if v == V1 {
					want = find{pc: 0x8004, err: ErrMalformed}
				}
				checkFinds(t, s, []find{want})
			}
		}
	}
}

// TestRepeatSizes has blocks of any size up to 255, one that is longer than the function, and FREs
// behind the block's end, which hold nowhere (The SFrame FDE PC Types).
func TestRepeatSizes(t *testing.T) {
	for _, v := range []Version{V2, V3} {
		for _, rep := range []uint32{1, 7, 16, 100, 255} {
			for _, size := range []uint32{1, 16, 100, 1000} {
				fde, fres := fdeOf(t, big, v, 0x7000, size, 0, 3, 0x10, uint8(rep))
				fres = append(fres, 0, 3, 16, 6, 3, 32, 16, 3, 48)
				s := mustOpen(t, section(t, big, headerLayout{Version: uint8(v), ABI: uint8(AArch64BE)}, []any{fde}, fres), 0x1000)
				for off := range size {
					lo, next, cfa := uint32(0), uint32(6), int32(16)
					switch in := off % rep; {
					case in >= 16:
						lo, next, cfa = 16, rep, 48
					case in >= 6:
						lo, next, cfa = 6, 16, 32
					}
					block := off - off%rep
					end := min(block+next, block+rep, size)
					want := Row{Lo: 0x8000 + uint64(block+lo), Len: end - block - lo, Flags: RowPCMask, CFA: reg(31, cfa), RA: same, FP: same}
					if row, err := s.Find(0x8000 + uint64(off)); err != nil || row != want {
						t.Fatalf("V%d, block %d, size %d, offset %d: %v, %v, expected %v", v, rep, size, off, row, err, want)
					}
				}
			}
		}
	}
}

// TestFar has functions at both ends of a start offset's range, and for V3 more than 2^33 bytes
// apart. The offsets count from the section and from the field (The SFrame FDE Index, SFrame
// Flags).
func TestFar(t *testing.T) {
	const g = 1 << 30
	tests := []struct {
		v     Version
		abi   ABI
		addr  uint64
		funcs []uint64 // link-time addresses, ascending from the section's view
	}{
		{V1, AMD64, 4 * g, []uint64{2 * g, 4*g - 16, 6*g - 1}},
		{V1, AArch64BE, 4 * g, []uint64{2 * g, 4*g - 16, 6*g - 1}},
		{V2, AMD64, 4 * g, []uint64{2*g + 0x1000, 4*g - 16, 6*g - 1}},
		{V2, S390X, 4 * g, []uint64{2*g + 0x1000, 4*g - 16, 6*g - 1}},
		{V2, AArch64LE, g, []uint64{0xffffffffd0000000, 0x1000, 2 * g}}, // the first lies below address 0
		{V3, AMD64, 0x400000, []uint64{0x1000, 8 * g, 16 * g, 1000 * g, 1 << 46}},
		{V3, AArch64BE, 1 << 47, []uint64{0x1000, 8 * g, 16 * g, 1<<47 + 8*g, 1<<47 + 16*g}},
		{V3, S390X, 1 << 63, []uint64{1<<63 - 1<<62, 1<<63 - 8*g, 1<<63 + 8*g, 1<<63 + 1<<61}},
	}
	for _, test := range tests {
		for _, pcrel := range []bool{false, true} {
			for _, sorted := range []bool{false, true} {
				if pcrel && test.v == V1 {
					continue
				}
				order := orderOf(test.abi)
				h := headerLayout{Version: uint8(test.v), ABI: uint8(test.abi)}
				if pcrel {
					h.Flags |= 4
				}
				if sorted {
					h.Flags |= 1
				}
				var fdes []any
				var fres []byte
				elem := map[Version]uint64{V1: 17, V2: 20, V3: 16}[test.v]
				for i, at := range test.funcs {
					from := test.addr
					if pcrel {
						from += 28 + uint64(i)*elem
					}
					fde, attr := fdeOf(t, order, test.v, int64(at-from), 16, uint32(len(fres)), 1, 0, 0)
					fdes = append(fdes, fde)
					fres = append(append(fres, attr...), 0, 3, uint8(i+1))
				}
				s := mustOpen(t, section(t, order, h, fdes, fres), test.addr)
				for i, at := range test.funcs {
					cfa := int32(i + 1)
					if test.abi == S390X {
						cfa = cfa*8 + 160
					}
					row := Row{Lo: at, Len: 16, CFA: reg(test.abi.SP(), cfa), RA: same, FP: same}
					checkFinds(t, s, []find{
						{pc: at - 1, err: ErrNoFDE}, {pc: at, row: row}, {pc: at + 15, row: row}, {pc: at + 16, err: ErrNoFDE},
						{pc: at + 32*g + 8, err: ErrNoFDE}, {pc: at - 32*g + 8, err: ErrNoFDE}, // the same low 32 bits
					})
				}
			}
		}
	}
}

// TestLargeFunction has a function of 4 GiB less one byte, and looks behind it, too.
func TestLargeFunction(t *testing.T) {
	for _, abi := range abisOf(V3) {
		order := orderOf(abi)
		attr := pack(t, order, uint16(2), uint8(2), uint16(0))
		fres := append(attr, pack(t, order, uint32(0), uint8(3), int8(0), uint32(0x80000000), uint8(2), int8(2))...)
		after := uint32(len(fres))
		fres = append(append(fres, pack(t, order, uint16(1), uint8(0), uint16(0))...), 0, 3, 4)
		s := mustOpen(t, section(t, order, headerLayout{Version: 3, Flags: 1, ABI: uint8(abi)},
			[]any{indexV3{0x1000, math.MaxUint32, 0}, indexV3{0x1000 + math.MaxUint32, 16, after}}, fres), 0)
		off := func(n int32) int32 {
			if abi == S390X {
				return n*8 + 160
			}
			return n
		}
		first := Row{Lo: 0x1000, Len: 0x80000000, CFA: reg(abi.SP(), off(0)), RA: same, FP: same}
		second := Row{Lo: 0x80001000, Len: 0x7fffffff, CFA: reg(abi.FP(), off(2)), RA: same, FP: same}
		third := Row{Lo: 0x100000fff, Len: 16, CFA: reg(abi.SP(), off(4)), RA: same, FP: same}
		checkFinds(t, s, []find{
			{pc: 0x80000fff, row: first}, {pc: 0x80001000, row: second}, {pc: 0x100000ffe, row: second},
			{pc: 0x100000fff, row: third}, {pc: 0x10000100f, err: ErrNoFDE},
		})
	}
}

// TestGaps: the offsets of both sub-sections count from the end of the (auxiliary) header. An FDE's
// start of FREs counts from the start of the FRE sub-section, even if that is not the end of the
// FDEs (SFrame Header).
func TestGaps(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, gap := range []uint32{0, 1, 24} {
			fde, fres := fdeOf(t, little, v, 0x7000, 16, 2, 1, 0, 0)
			fres = append(append([]byte{0xff, 0xff}, fres...), 0, 3, 8)
			h := headerLayout{Magic: Magic, Version: uint8(v), ABI: 3, AuxLen: 4, FixedRA: -8, NumFDEs: 1, FRELen: uint32(len(fres)), FDEOff: gap}
			f := pack(t, little, fde)
			h.FREOff = gap + uint32(len(f)) + gap
			data := pack(t, little, h, make([]byte, 4+gap), f, make([]byte, gap), fres)
			s := mustOpen(t, append(data, 0xee), 0x1000)
			if len(s.Data) != len(data) || len(s.AuxHeader) != 4 {
				t.Errorf("V%d, gap %d: %d bytes, expected %d", v, gap, len(s.Data), len(data))
			}
			checkFinds(t, s, []find{{pc: 0x8001, row: Row{Lo: 0x8000, Len: 16, CFA: reg(7, 8), RA: saved(-8), FP: same}}})
		}
	}
}

// TestEqualStarts: if functions start at the same place, the last one that is not empty counts, in
// sorted sections and in others.
func TestEqualStarts(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, flags := range []uint8{0, 1} {
			var fdes []any
			var fres []byte
			for i, f := range []struct{ start, size uint32 }{
				{0, 0}, {0x10, 0}, {0x10, 16}, {0x10, 0}, {0x20, 8}, {0x20, 16}, {0x30, 16}, {0x30, 8}, {0x40, 0}, {0x50, 0}, {0x50, 0},
			} {
				fde, attr := fdeOf(t, little, v, int64(f.start), f.size, uint32(len(fres)), 1, 0, 0)
				fdes = append(fdes, fde)
				fres = append(append(fres, attr...), 0, 3, uint8(i))
			}
			s := mustOpen(t, section(t, little, headerLayout{Version: uint8(v), Flags: flags, ABI: 2}, fdes, fres), 0x1000)
			row := func(lo uint64, n uint32, i int32) Row {
				return Row{Lo: lo, Len: n, CFA: reg(31, i), RA: same, FP: same}
			}
			checkFinds(t, s, []find{
				{pc: 0x1000, err: ErrNoFDE}, {pc: 0x100f, err: ErrNoFDE},
				{pc: 0x1010, row: row(0x1010, 16, 2)}, {pc: 0x101f, row: row(0x1010, 16, 2)},
				{pc: 0x1020, row: row(0x1020, 16, 5)}, {pc: 0x102f, row: row(0x1020, 16, 5)},
				{pc: 0x1030, row: row(0x1030, 8, 7)}, {pc: 0x1038, err: ErrNoFDE},
				{pc: 0x1040, err: ErrNoFDE}, {pc: 0x1050, err: ErrNoFDE}, {pc: 0x1060, err: ErrNoFDE},
			})
		}
	}
}

// TestEmpty: a header without FDEs is a section. No FDE in it covers a PC.
func TestEmpty(t *testing.T) {
	for _, v := range []Version{V1, V2, V3} {
		for _, abi := range abisOf(v) {
			for _, flags := range []uint8{0, 1} {
				s := mustOpen(t, section(t, orderOf(abi), headerLayout{Version: uint8(v), Flags: flags, ABI: uint8(abi)}, nil, nil), 0x1000)
				for range s.FDEs() {
					t.Error("an FDE out of nothing")
				}
				if len(s.Data) != 28 {
					t.Errorf("%d bytes, expected 28", len(s.Data))
				}
				checkFinds(t, s, []find{{pc: 0, err: ErrNoFDE}, {pc: 0x1000, err: ErrNoFDE}, {pc: math.MaxUint64, err: ErrNoFDE}})
			}
		}
	}
}
