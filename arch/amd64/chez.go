package amd64

import "encoding/binary"

// chezReach is how far from an instruction the ones are that tell where the frame is, bytes.
const chezReach = 128

// Bounds of the parts of a call, bytes.
const (
	chezArguments = 64 // from the end of the add up to the lea
	chezHeader    = 64 // from the lea up to where the procedure goes on
)

// chezInward implements arch.ChezCode.Inward. A call is
//
//	add r13, N
//	lea reg, [rip+disp32] (where the procedure goes on)
//	mov [r13+0], reg
//	jmp callee
//
// with moves between these, and the procedure goes on with sub r13, N.
func chezInward(code []byte, at int) uint64 {
	if n, _, ok := chezMoves(code[at:], 0xed); ok {
		return n
	}
	for lea := max(0, at-chezHeader); lea+11 <= len(code) && lea <= at+chezArguments; lea++ {
		c := code[lea:]
		if c[0]&^4 != 0x48 || c[1] != 0x8d || c[2]&0xc7 != 0x05 || c[7]&^4 != 0x49 || c[8] != 0x89 || c[9]&0xc7 != 0x45 || c[10] != 0 {
			continue
		}
		distance := binary.LittleEndian.Uint32(c[3:])
		if distance > chezHeader || at >= lea+7+int(distance) {
			continue
		}
		for add := lea - 4; add >= max(0, lea-chezArguments); add-- {
			if n, length, ok := chezMoves(code[add:], 0xc5); ok && add+length <= lea {
				if at >= add+length {
					return n
				}
				break
			}
		}
	}
	return 0
}

// chezMoves reads add r13, N or sub r13, N: which, the last byte of the opcode tells.
func chezMoves(code []byte, operation byte) (n uint64, length int, ok bool) {
	if len(code) < 7 || code[0] != 0x49 || code[2] != operation {
		return 0, 0, false
	}
	switch code[1] {
	case 0x83:
		return uint64(int64(int8(code[3]))), 4, true
	case 0x81:
		return uint64(int64(int32(binary.LittleEndian.Uint32(code[3:])))), 7, true
	}
	return 0, 0, false
}
