package s390x

import "encoding/binary"

// callTarget implements arch.Arch.CallTarget: brasl and bras say where they go.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	n := len(code)
	switch {
	case n >= 6 && code[n-6] == 0xc0 && code[n-5] == 0xe5:
		return ra - 6 + 2*uint64(int64(int32(binary.BigEndian.Uint32(code[n-4:])))), true
	case n >= 4 && code[n-4] == 0xa7 && code[n-3] == 0xe5:
		return ra - 4 + 2*uint64(int64(int16(binary.BigEndian.Uint16(code[n-2:])))), true
	}
	return 0, false
}
