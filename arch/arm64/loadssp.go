package arm64

import "encoding/binary"

// maxLoad is how many instructions are looked at for one that loads the stack pointer.
const maxLoad = 6

// loadsSP implements arch.Arch.LoadsSP: ldr xN,[sp,…]; mov sp,xN.
func loadsSP(code []byte) bool {
	loaded := uint32(0) // registers
	for at := 0; at+size <= len(code) && at < maxLoad*size; at += size {
		switch w := binary.LittleEndian.Uint32(code[at:]); {
		case w&0xffc003e0 == 0xf94003e0:
			loaded |= 1 << (w & 31)
		case w&0xfffffc1f == 0x9100001f:
			return loaded>>(w>>5&31)&1 != 0
		default:
			switch o := decode(code, at); o.kind {
			case opJump, opJumpReg, opBranch, opBranchNE, opStop, opBad:
				return false
			}
		}
	}
	return false
}
