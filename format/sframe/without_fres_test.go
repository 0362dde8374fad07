package sframe

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// withoutFREs is a section of V3 with each kind of FDE without FREs: a Default one, which is
// outermost, one of a signal frame, a Flex one, a Flex one of a signal frame. Each has 16 bytes of
// code. The first is at 0x1000 if the section is at 0x2000.
func withoutFREs(t testing.TB, order binary.ByteOrder, abi ABI) []byte {
	t.Helper()
	h := headerLayout{Version: 3, Flags: uint8(FDESorted), ABI: uint8(abi)}
	if abi == AMD64 {
		h.FixedRA = -8
	}
	fdes := []any{indexV3{-0x1000, 16, 0}, indexV3{-0xff0, 16, 5}, indexV3{-0xfe0, 16, 10}, indexV3{-0xfd0, 16, 15}}
	return section(t, order, h, fdes, []byte{0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x80, 1, 0})
}

// TestConvertWithoutFREs: V2 has the meaning of V3's FDEs without FREs in its own form or not at
// all, in either byte order. A signal frame never becomes an outermost one. Joined sections say the
// same as their parts.
func TestConvertWithoutFREs(t *testing.T) {
	for _, tt := range []struct {
		order binary.ByteOrder
		abi   ABI
	}{{little, AMD64}, {little, AArch64LE}, {big, AArch64BE}, {big, S390X}} {
		const addr = 0x2000
		s := mustOpen(t, withoutFREs(t, tt.order, tt.abi), addr)
		c := contents(t, s)
		outermost := func(pc uint64) Row {
			return Row{Lo: pc, Len: 16, Flags: RowOutermost, RA: undef}
		}
		want := []find{
			{pc: 0x1000, row: outermost(0x1000)}, {pc: 0x101f, err: ErrSignalFrame},
			{pc: 0x1020, err: ErrNoRow}, {pc: 0x1030, err: ErrSignalFrame},
		}
		checkFinds(t, s, want)
		checkFinds(t, mustOpen(t, encode(t, c, addr), addr), want)

		v2, lost := c.Convert(V2)
		var reasons []string
		for _, e := range lost {
			reasons = append(reasons, fmt.Sprintf("%#x %s", e.Start, e.Msg))
		}
		if got := strings.Join(reasons, ";"); got != "0x1010 a signal frame;0x1030 a signal frame" {
			t.Errorf("%v in V2: lost %q", tt.abi, got)
		}
		checkFinds(t, mustOpen(t, encode(t, v2, addr), addr), []find{
			{pc: 0x1000, row: outermost(0x1000)}, {pc: 0x101f, err: ErrNoFDE},
			{pc: 0x1020, err: ErrNoRow}, {pc: 0x1030, err: ErrNoFDE},
		})
		back, lost := v2.Convert(V3)
		if len(lost) > 0 {
			t.Errorf("%v back in V3: lost %v", tt.abi, lost)
		}
		checkFinds(t, mustOpen(t, encode(t, back, addr), addr), []find{{pc: 0x1000, row: outermost(0x1000)}, {pc: 0x1020, err: ErrNoRow}})

		other := mustOpen(t, withoutFREs(t, tt.order, tt.abi), addr+0x4000)
		joined, err := Join(contents(t, other), c)
		if err != nil {
			t.Fatal(err)
		}
		checkFinds(t, mustOpen(t, encode(t, joined, addr), addr), append(want, find{pc: 0x5000, row: outermost(0x5000)}, find{pc: 0x5010, err: ErrSignalFrame}))
	}
}
