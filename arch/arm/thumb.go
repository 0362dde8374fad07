package arm

import "encoding/binary"

// enough is how many words are looked at to tell the instruction sets apart.
const enough = 32

// IsThumb reports whether code at address start is Thumb code, by what it looks like, for where
// nobody knows. Nearly all A32 instructions are executed whatever the flags are, so that most words
// of A32 code have the same upper four bits; of Thumb code, where these bits are of every other
// half, one word of eight has them. What is near start counts more: code of the other set may
// follow. An address that is no multiple of 4 is none of A32 code.
func IsThumb(code []byte, start uint64) bool {
	if start%word != 0 {
		return true
	}
	sum, a32 := 0, 0
	for i := 0; (i+1)*word <= len(code) && i < enough; i++ {
		w := binary.LittleEndian.Uint32(code[i*word:])
		switch {
		case i == 0 && (isReturn(w) || beginsThumb(w)): // bx lr; what follows is another function's
			return true
		case i == 0 && jumps(w) && w>>28 == always:
			return false
		case w>>16 == 0: // a constant
			continue
		}
		weight := max(1, 8>>(i/2))
		if i == 0 && w>>28 != always {
			weight *= 2 // code hardly ever begins with an instruction that may not be executed
		}
		if sum += weight; w>>28 == always {
			a32 += weight
		}
	}
	return 2*a32 <= sum
}

// beginsThumb reports whether a word that may be an A32 instruction looks more like what a Thumb
// function begins with: push.w; push or cbz and the first half of an instruction that as A32 code
// would load pc and sp together, or be of a coprocessor that nobody has.
func beginsThumb(w uint32) bool {
	push := w&0xfe00 == 0xb400
	return w&0xffff == 0xe92d || w>>25 == 0x74 && w&0xf000 == 0xb000 || w>>26 == 0x3b && push
}

// isReturn reports whether a word begins with Thumb's bx lr.
func isReturn(w uint32) bool { return w&0xffff == 0x4770 }
