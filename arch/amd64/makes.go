package amd64

import (
	"bytes"
	"encoding/binary"
)

// makes implements arch.LanguageRules.Makes: lea address(%rip), and any 64-bit register.
func makes(code []byte, start, address uint64) (offsets []int) {
	const length = 7 // a prefix (REX), the opcode, ModRM, four bytes of the distance
	for from := 0; ; from++ {
		i := bytes.IndexByte(code[min(from+1, len(code)):], 0x8d)
		if i < 0 {
			return offsets
		}
		from += i // the prefix
		if len(code)-from < length {
			return offsets
		}
		prefix, operands := code[from], code[from+2]
		distance := uint64(int64(int32(binary.LittleEndian.Uint32(code[from+3:]))))
		if prefix&^0x04 == 0x48 && operands&0xc7 == 0x05 && start+uint64(from)+length+distance == address {
			offsets = append(offsets, from)
		}
	}
}
