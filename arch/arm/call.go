package arm

import "encoding/binary"

// afterCall implements arch.Arch.AfterCall: bl, blx, or what was called so before there was blx,
// mov lr, pc and a jump. Nobody tells of which instruction set the code is, so that either will do.
func afterCall(code []byte) bool {
	n := len(code)
	if n >= 2 && isThumbBLX(binary.LittleEndian.Uint16(code[n-2:])) {
		return true
	}
	if n < word {
		return false
	}
	w := binary.LittleEndian.Uint32(code[n-word:])
	before := uint32(0)
	if n >= 2*word {
		before = binary.LittleEndian.Uint32(code[n-2*word:])
	}
	switch {
	case w&0xfffffff0 == 0xe1a0f000: // mov pc, which else might be blx of Thumb code
		return before == 0xe1a0e00f
	case isThumbBL(w), w>>28 == always && (isBL(w) || w&0x0ffffff0 == 0x012fff30), w>>25 == 0x7d:
		return true
	case isBL(w), w&0x0ffffff0 == 0x012fff30: // with a condition, if what comes before may be A32 code; Thumb code often has such halves
		return before>>28 == always || before>>28 == w>>28 && w>>28 != never
	}
	return before == 0xe1a0e00f && jumps(w)
}

// isThumbBLX reports whether h is blx to a register, of Thumb code.
func isThumbBLX(h uint16) bool { return h&0xff87 == 0x4780 }

// isThumbBL reports whether the halves of w, as they lie in memory, are bl or blx of Thumb code.
func isThumbBL(w uint32) bool {
	return w&0xf800 == 0xf000 && (w>>16&0xd000 == 0xd000 || w>>16&0xd001 == 0xc000)
}

// isBL reports whether w is bl, or blx to Thumb code.
func isBL(w uint32) bool { return w&0x0f000000 == 0x0b000000 && w>>28 != never || w>>25 == 0x7d }

// jumps reports whether w writes PC: bx, mov pc, ldr pc, ldm with pc.
func jumps(w uint32) bool {
	return w&0x0ffffff0 == 0x012fff10 || w&0x0ffffff0 == 0x01a0f000 || w&0x0c10f000 == 0x0410f000 || w&0x0e108000 == 0x08108000
}

// callTarget implements arch.Arch.CallTarget: bl and blx with a distance alone say where they go.
// What may be of either instruction set goes where it is nearer.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	if len(code) < word {
		return 0, false
	}
	at := uint32(ra) - word
	w := binary.LittleEndian.Uint32(code[len(code)-word:])
	thumb, a32 := isThumbBL(w), ra%word == 0 && isBL(w)
	near := signed(w, 24) * 4
	if w>>28 == never {
		near += int32(field(w, 24, 1) * 2)
	}
	far := thumbDistance(w)
	switch {
	case a32 && (!thumb || w>>28 == always && abs(near) <= abs(far)):
		return uint64(at + 8 + uint32(near)), true
	case thumb && !bit(w, 28): // to A32 code
		return uint64((at+4)&^3 + uint32(far)), true
	case thumb:
		return uint64(at + 4 + uint32(far)), true
	}
	return 0, false
}

func abs(n int32) int32 { return max(n, -n) }

// thumbDistance returns how far bl or blx of Thumb code, whose halves are w as they lie in memory,
// goes.
func thumbDistance(w uint32) int32 {
	w = w<<16 | w>>16
	s, j1, j2 := field(w, 26, 1), field(w, 13, 1), field(w, 11, 1)
	return signed(s<<24|(1^j1^s)<<23|(1^j2^s)<<22|field(w, 16, 10)<<12|field(w, 0, 11)<<1, 25)
}
