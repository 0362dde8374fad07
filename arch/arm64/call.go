package arm64

import "encoding/binary"

// afterCall reports whether code ends with an instruction that branches and puts
// the address behind it into the link register: bl, blr, blraa and the like.
func afterCall(code []byte) bool {
	if len(code) < size {
		return false
	}
	w := binary.LittleEndian.Uint32(code[len(code)-size:])
	return w>>26 == 0x25 || w>>25 == 0x6b && w>>21&7 == 1
}
