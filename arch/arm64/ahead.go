package arm64

import "encoding/binary"

// callTarget implements arch.Arch.CallTarget: bl alone says where it goes.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	if len(code) < size {
		return 0, false
	}
	w := binary.LittleEndian.Uint32(code[len(code)-size:])
	return ra - size + uint64(int64(signed(w, 26))*4), w>>26 == 0x25
}
