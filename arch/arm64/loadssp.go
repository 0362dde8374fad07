package arm64

import "encoding/binary"

// loadsSP implements arch.Arch.LoadsSP. Most code has no mov sp,xN: to decode it takes longer.
func loadsSP(code []byte) bool {
	for at := 0; at+size <= len(code); at += size {
		if binary.LittleEndian.Uint32(code[at:])&0xfffffc1f == 0x9100001f {
			return Machine.LoadsSP(code)
		}
	}
	return false
}
